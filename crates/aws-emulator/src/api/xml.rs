//! XML in and out: a small tree for requests, a writer for answers.
//!
//! Invariant: bounded depth; text is unescaped on the way in and escaped on the way out. Deliberately absent:
//! namespaces other than the one on the root, DTDs, attributes.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Deepest nesting that a request of this API has is 7.
const MAX_DEPTH: usize = 16;

/// Why a body is not XML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct XmlError(String);

/// An element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// Local name.
    pub name: String,
    /// `xmlns` of this element, if it has one.
    pub namespace: Option<String>,
    /// Text directly inside.
    pub text: String,
    /// Elements directly inside.
    pub children: Vec<Element>,
}

impl Element {
    /// The first child of this name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|c| c.name == name)
    }

    /// Text of the first child of this name.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|c| c.text.as_str())
    }
}

/// Reads a document and gives its root.
///
/// # Errors
/// What is not well formed.
pub fn parse(body: &[u8]) -> Result<Element, XmlError> {
    let text = std::str::from_utf8(body).map_err(|e| XmlError(e.to_string()))?;
    let mut reader = Reader::from_str(text);
    let mut stack: Vec<Element> = vec![Element::default()];
    loop {
        let event = reader
            .read_event()
            .map_err(|e| XmlError(format!("{e} at byte {}", reader.error_position())))?;
        match event {
            Event::Start(start) => {
                if stack.len() > MAX_DEPTH {
                    return Err(XmlError(format!("nested deeper than {MAX_DEPTH}")));
                }
                stack.push(open(&start)?);
            }
            Event::Empty(start) => {
                let element = open(&start)?;
                last(&mut stack)?.children.push(element);
            }
            Event::End(_) => {
                let element = stack.pop().unwrap_or_default();
                last(&mut stack)?.children.push(element);
            }
            Event::Text(text) => last(&mut stack)?.text.push_str(&text.xml10_content()),
            Event::CData(text) => last(&mut stack)?.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let resolved = match reference.resolve_char_ref() {
                    Ok(Some(character)) => character.to_string(),
                    Ok(None) => predefined(&reference.xml10_content())?.to_owned(),
                    Err(error) => return Err(XmlError(error.to_string())),
                };
                last(&mut stack)?.text.push_str(&resolved);
            }
            Event::DocType(_) => return Err(XmlError("DOCTYPE is not allowed".to_owned())),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
    }
    let mut top = stack.pop().filter(|_| stack.is_empty());
    let roots = top.as_mut().map(|t| std::mem::take(&mut t.children));
    match roots.unwrap_or_default().as_mut_slice() {
        [root] => Ok(std::mem::take(root)),
        _ => Err(XmlError("Premature end of file.".to_owned())),
    }
}

fn open(start: &BytesStart<'_>) -> Result<Element, XmlError> {
    let mut element = Element {
        name: start.local_name().as_ref().to_owned(),
        ..Element::default()
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| XmlError(e.to_string()))?;
        if attribute.key.as_ref() == "xmlns" {
            element.namespace = Some(attribute.value.to_string());
        }
    }
    Ok(element)
}

fn last(stack: &mut [Element]) -> Result<&mut Element, XmlError> {
    stack
        .last_mut()
        .ok_or_else(|| XmlError("an element ends that has not begun".to_owned()))
}

fn predefined(name: &str) -> Result<&'static str, XmlError> {
    match name {
        "lt" => Ok("<"),
        "gt" => Ok(">"),
        "amp" => Ok("&"),
        "quot" => Ok("\""),
        "apos" => Ok("'"),
        other => Err(XmlError(format!("unknown entity &{other};"))),
    }
}

/// Writes a document element by element.
#[derive(Debug)]
pub struct Writer {
    out: String,
}

impl Writer {
    /// A document whose root has this name and namespace; `fill` writes what is inside.
    #[must_use]
    pub fn document(root: &str, namespace: &str, fill: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self {
            out: format!("<?xml version=\"1.0\"?>\n<{root} xmlns=\"{namespace}\">"),
        };
        fill(&mut writer);
        writer.out.push_str(&format!("</{root}>"));
        writer.out
    }

    /// An element with elements inside.
    pub fn nest(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        self.out.push_str(&format!("<{name}>"));
        fill(self);
        self.out.push_str(&format!("</{name}>"));
    }

    /// An element with text inside.
    pub fn leaf(&mut self, name: &str, text: &str) {
        self.out.push_str(&format!("<{name}>"));
        for character in text.chars() {
            match character {
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '&' => self.out.push_str("&amp;"),
                '\r' => self.out.push_str("&#13;"),
                other => self.out.push(other),
            }
        }
        self.out.push_str(&format!("</{name}>"));
    }

    /// An element with text inside, if there is any.
    pub fn maybe(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.leaf(name, text);
        }
    }
}
