//! The regions that Route 53 measures latency to, where they are, and the hosted zones of their load balancers.
//!
//! Invariant: sorted by name; a test compares the names with the SDK's enum. Zone ids are the ones that AWS lists
//! under "Elastic Load Balancing endpoints and quotas"; an empty one is not known.
//! Deliberately absent: measured latencies; the nearest region by great-circle distance stands in for them.

/// One AWS region.
#[derive(Debug)]
pub struct Region {
    /// Name, `eu-west-1`.
    pub name: &'static str,
    /// Degrees north.
    latitude: f64,
    /// Degrees east.
    longitude: f64,
    /// Canonical hosted zone of application and classic load balancers; empty if unknown.
    pub alb_zone: &'static str,
    /// Canonical hosted zone of network load balancers; empty if unknown.
    pub nlb_zone: &'static str,
}

const fn region(
    name: &'static str,
    latitude: f64,
    longitude: f64,
    alb_zone: &'static str,
    nlb_zone: &'static str,
) -> Region {
    Region {
        name,
        latitude,
        longitude,
        alb_zone,
        nlb_zone,
    }
}

/// Every latency region of Route 53.
#[rustfmt::skip]
pub const REGIONS: [Region; 39] = [
    region("af-south-1", -33.9, 18.4, "Z268VQBMOI5EKX", "Z203XCE67M25HM"),
    region("ap-east-1", 22.3, 114.2, "Z3DQVH9N71FHZ0", "Z12Y7K3UBGUAD1"),
    region("ap-east-2", 25.0, 121.5, "Z02789141MW7T1WBU19PO", "Z09176273OC2HWIAUNYW"),
    region("ap-northeast-1", 35.7, 139.7, "Z14GRHDCWA56QT", "Z31USIVHYNEOWT"),
    region("ap-northeast-2", 37.6, 127.0, "ZWKZPGTI48KDX", "ZIBE1TIR4HY56"),
    region("ap-northeast-3", 34.7, 135.5, "Z5LXEXXYW11ES", "Z1GWIQ4HH19I5X"),
    region("ap-south-1", 19.1, 72.9, "ZP97RAFLXTNZK", "ZVDDRBQ08TROA"),
    region("ap-south-2", 17.4, 78.5, "Z0173938T07WNTVAEPZN", "Z0711778386UTO08407HT"),
    region("ap-southeast-1", 1.3, 103.8, "Z1LMS91P8CMLE5", "ZKVM4W9LS7TM"),
    region("ap-southeast-2", -33.9, 151.2, "Z1GM3OXH4ZPM65", "ZCT6FZBF4DROD"),
    region("ap-southeast-3", -6.2, 106.8, "Z08888821HLRG5A9ZRTER", "Z01971771FYVNCOVWJU1G"),
    region("ap-southeast-4", -37.8, 145.0, "Z09517862IB2WZLPXG76F", "Z01156963G8MIIL7X90IV"),
    region("ap-southeast-5", 3.1, 101.7, "Z06010284QMVVW7WO5J", "Z026317210H9ACVTRO6FB"),
    region("ap-southeast-6", -36.8, 174.8, "Z023301818UFJ50CIO0MV", "Z01392953RKV2Q3RBP0KU"),
    region("ap-southeast-7", 13.8, 100.5, "Z0390008CMBRTHFGWBCB", "Z054363131YWATEMWRG5L"),
    region("ca-central-1", 45.5, -73.6, "ZQSVJUPU6J1EY", "Z2EPGBW3API2WT"),
    region("ca-west-1", 51.0, -114.1, "Z06473681N0SF6OS049SD", "Z02754302KBB00W2LKWZ9"),
    region("cn-north-1", 39.9, 116.4, "Z1GDH35T77C1KE", "Z3QFB96KMJ7ED6"),
    region("cn-northwest-1", 38.5, 106.2, "ZM7IZAIOVVDZF", "ZQEIKTCZ8352D"),
    region("eu-central-1", 50.1, 8.7, "Z215JYRZR1TBD5", "Z3F0SRJ5LGBH90"),
    region("eu-central-2", 47.4, 8.5, "Z06391101F2ZOEP8P5EB3", "Z02239872DOALSIDCX66S"),
    region("eu-north-1", 59.3, 18.1, "Z23TAZ6LKFMNIO", "Z1UDT6IFJ4EJM"),
    region("eu-south-1", 45.5, 9.2, "Z3ULH7SSC9OV64", "Z23146JA1KNAFP"),
    region("eu-south-2", 41.6, -0.9, "Z0956581394HF5D5LXGAP", "Z1011216NVTVYADP1SSV"),
    region("eu-west-1", 53.3, -6.3, "Z32O12XQLNTSW2", "Z2IFOLAFXWLO4F"),
    region("eu-west-2", 51.5, -0.1, "ZHURV8PSTC4K8", "ZD4D7Y8KGAS4G"),
    region("eu-west-3", 48.9, 2.4, "Z3Q77PNBQS71R4", "Z1CMS0P5QUZ6D5"),
    region("eusc-de-east-1", 52.4, 13.1, "", ""),
    region("il-central-1", 32.1, 34.8, "Z09170902867EHPV2DABU", "Z0313266YDI6ZRHTGQY4"),
    region("me-central-1", 24.5, 54.4, "Z08230872XQRWHG2XF6I", "Z00282643NTTLPANJJG2P"),
    region("me-south-1", 26.2, 50.6, "ZS929ML54UICD", "Z3QSRYVP46NYYV"),
    region("mx-central-1", 20.6, -100.4, "Z023552324OKD1BB28BH5", "Z02031231H3ID6HYJ9A7U"),
    region("sa-east-1", -23.5, -46.6, "Z2P70J7HTTTPLU", "ZTK26PT1VY4CU"),
    region("us-east-1", 38.9, -77.4, "Z35SXDOTRQ7X7K", "Z26RNL4JYFTOTI"),
    region("us-east-2", 40.0, -83.0, "Z3AADJGX6KTTL2", "ZLMOA37VPKANP"),
    region("us-gov-east-1", 40.1, -82.8, "Z166TLBEWOO7G0", "Z1ZSMQQ6Q24QQ8"),
    region("us-gov-west-1", 45.8, -119.7, "Z33AYJ8TM3BH4J", "ZMG1MZ2THAWF1"),
    region("us-west-1", 37.4, -121.9, "Z368ELLRRE2KJ0", "Z24FKFUX50B4VW"),
    region("us-west-2", 45.5, -122.7, "Z1H1FL5HABSF5", "Z18D5FSROUN65G"),
];

/// The region of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Region> {
    REGIONS
        .binary_search_by(|r| r.name.cmp(name))
        .ok()
        .and_then(|at| REGIONS.get(at))
}

impl Region {
    /// Degrees north and east.
    #[must_use]
    pub fn place(&self) -> (f64, f64) {
        (self.latitude, self.longitude)
    }
}

/// Kilometres between two regions along the great circle.
#[must_use]
pub fn distance(a: &Region, b: &Region) -> f64 {
    kilometres(a.place(), b.place())
}

/// Kilometres between two places, each in degrees north and east, along the great circle.
#[must_use]
pub fn kilometres(a: (f64, f64), b: (f64, f64)) -> f64 {
    const EARTH_RADIUS_KM: f64 = 6371.0;
    let (lat_a, lat_b) = (a.0.to_radians(), b.0.to_radians());
    let half_lat = (lat_b - lat_a) / 2.0;
    let half_lon = (b.1 - a.1).to_radians() / 2.0;
    let h = half_lat.sin().powi(2) + lat_a.cos() * lat_b.cos() * half_lon.sin().powi(2);
    2.0 * EARTH_RADIUS_KM * h.sqrt().min(1.0).asin()
}
