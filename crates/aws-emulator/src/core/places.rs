//! Places of geolocation routing: continents, countries and states that Route 53 has (GeoLocation in the API).
//!
//! Invariant: a [`Place`] names a continent, a country of ISO 3166-1 or a subdivision that is in the tables here.
//! Deliberately absent: which address lies where; the configuration says that for DNS clients.

use std::fmt;

/// Countries by continent; the continents of GeoNames, whose codes Route 53 uses.
const COUNTRIES: [(&str, &str); 7] = [
    (
        "AF",
        "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
    ),
    ("AN", "AQ BV GS HM TF"),
    (
        "AS",
        "AE AF AM AZ BD BH BN BT CC CN CX GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TM TR TW UZ VN YE",
    ),
    (
        "EU",
        "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK",
    ),
    (
        "NA",
        "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI",
    ),
    (
        "OC",
        "AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS",
    ),
    ("SA", "AR BO BR CL CO EC FK GF GY PE PY SR UY VE"),
];
/// States of the United States and the District of Columbia.
const US_STATES: &str = "AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY";

/// A place that a geolocation set answers for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `*`: every place without a set of its own, and clients whose place is not known.
    Default,
    /// Continent code.
    Continent(String),
    /// Country code.
    Country(String),
    /// Country code and subdivision code.
    Subdivision(String, String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("*"),
            Self::Continent(code) | Self::Country(code) => f.write_str(code),
            Self::Subdivision(country, code) => write!(f, "{country}/{code}"),
        }
    }
}

/// Where a client is, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// Continent code.
    pub continent: String,
    /// Country code.
    pub country: Option<String>,
    /// Subdivision code inside the country.
    pub subdivision: Option<String>,
}

impl Whereabouts {
    /// Reads `EU`, `EU-DE` or `NA-US-CA`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let continent = parts.next()?;
        let (country, subdivision) = (parts.next(), parts.next());
        let known = is_continent(continent)
            && country.is_none_or(|c| continent_of(c) == Some(continent))
            && country
                .zip(subdivision)
                .is_none_or(|(country, code)| is_subdivision(country, code))
            && parts.next().is_none();
        known.then(|| Self {
            continent: continent.to_owned(),
            country: country.map(str::to_owned),
            subdivision: subdivision.map(str::to_owned),
        })
    }

    /// The places that this client counts to, the smallest first, [`Place::Default`] last.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        if let Some(country) = &self.country {
            if let Some(code) = &self.subdivision {
                places.push(Place::Subdivision(country.clone(), code.clone()));
            }
            places.push(Place::Country(country.clone()));
        }
        places.push(Place::Continent(self.continent.clone()));
        places.push(Place::Default);
        places
    }
}

/// Whether this is a continent code.
#[must_use]
pub fn is_continent(code: &str) -> bool {
    COUNTRIES.iter().any(|(continent, _)| *continent == code)
}

/// The continent of a country; `None` for a code that is none.
#[must_use]
pub fn continent_of(country: &str) -> Option<&'static str> {
    COUNTRIES
        .iter()
        .find(|(_, countries)| countries.split(' ').any(|c| c == country))
        .map(|(continent, _)| *continent)
}

/// Whether a country has this subdivision: states of the US, and the two digits of those of Ukraine.
#[must_use]
pub fn is_subdivision(country: &str, code: &str) -> bool {
    match country {
        "US" => US_STATES.split(' ').any(|state| state == code),
        "UA" => code.len() == 2 && code.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    }
}
