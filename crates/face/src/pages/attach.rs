//! Images that go with a message to an agent.

use rookery_view::link::{Image, Page, bound};

use super::thread::ThreadPage;
use crate::app::{App, Cx, READ_ONLY};
use crate::words::line;

/// An image that waits for its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// What its file is called.
    pub name: String,
    pub image: Image,
}

impl ThreadPage {
    /// Names of the images that go with the message that is being written.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        self.images.iter().map(|attached| attached.name.as_str())
    }
}

impl App {
    /// An image was dropped: it goes with the message that is being written.
    pub fn attach(&mut self, cx: &Cx<'_>, attached: Attached) {
        if !self.may_decide() {
            return self.warn(READ_ONLY);
        }
        if !matches!(App::page(cx), Page::Thread { .. }) {
            return self.warn("an image goes with a message: open a thread for it");
        }
        let images = &mut self.pages.thread.images;
        let size: usize = images.iter().chain([&attached]).map(|it| it.image.data.len()).sum();
        if size > bound::IMAGE_BYTES {
            return self.warn("that is too much: images of one message may have 9 MB together");
        }
        let name = line(&attached.name);
        images.push(attached);
        self.say(format!("{name} goes with the message; Backspace in an empty field drops it"));
    }

    /// Drops the last image where nothing is written; whether there was one.
    pub(crate) fn take_off_image(&mut self) -> bool {
        let page = &mut self.pages.thread;
        page.composer.is_empty() && page.images.pop().is_some()
    }
}

#[cfg(test)]
mod tests {
    use rookery_term::keys::parse_chord;
    use rookery_view::link::{Rights, Scene, method};

    use super::*;
    use crate::app::{Effect, Environment};
    use crate::picture::fixed::Fixed;

    fn image(name: &str, size: usize) -> Attached {
        let image = Image { mime: "image/png".to_owned(), data: "a".repeat(size) };
        Attached { name: name.to_owned(), image }
    }

    fn sent(app: &mut App) -> Vec<usize> {
        let count = |effect| match effect {
            Effect::Call(_, name, params) if name == method::THREAD_SEND.name => {
                Some(params["images"].as_array().map_or(0, Vec::len))
            }
            _ => None,
        };
        app.take_effects().into_iter().filter_map(count).collect()
    }

    #[test]
    fn images_go_with_the_next_message_and_come_back_if_it_was_not_taken() {
        let page = Some(Page::Thread { thread: "t".to_owned() });
        let fixed = Fixed { scene: Scene { page, ..Scene::default() }, ..Fixed::default() };
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        let mut app = App::new((80, 24), Environment::default());
        app.rights = Rights::Full;
        app.pages.thread.begin("t");
        app.take_effects();
        app.attach(&cx, image("one.png", 10));
        app.attach(&cx, image("two.png", 10));
        app.attach(&cx, image("large.png", bound::IMAGE_BYTES));
        assert_eq!(app.pages.thread.images().collect::<Vec<_>>(), ["one.png", "two.png"]);
        app.key(&cx, &parse_chord("backspace").unwrap());
        app.key(&cx, &parse_chord("enter").unwrap());
        assert_eq!(sent(&mut app), [1], "an image alone is a message");
        assert!(app.pages.thread.take_back());
        assert_eq!(app.pages.thread.images().collect::<Vec<_>>(), ["one.png"]);
        // A letter is dropped before an image.
        app.key(&cx, &parse_chord("x").unwrap());
        app.key(&cx, &parse_chord("backspace").unwrap());
        assert_eq!(app.pages.thread.images().count(), 1);
    }
}
