//! Collections that are cheap to copy: a copy shares everything with its original until one of them
//! changes, and then all but what changed. A transaction works on a copy of the world, so that one
//! that fails leaves nothing behind, and readers keep the world they began with.

use std::borrow::Borrow;
use std::fmt::{self, Debug};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;

/// Values by key, in the order of keys. Changing one copies that value and a few pointers.
pub(crate) struct Table<K, V>(OrdMap<K, Arc<V>>);

impl<K: Ord + Debug, V: Debug> Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        Table(self.0.clone())
    }
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table(OrdMap::new())
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key).map(|value| &**value)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key).map(Arc::make_mut)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    /// Puts a value in; gives the one that had this key before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, Arc::new(value)).map(Arc::unwrap_or_clone)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        self.0.remove(key).map(Arc::unwrap_or_clone)
    }

    /// Takes out the value with the smallest key.
    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        let key = self.0.get_min()?.0.clone();
        let value = self.remove(&key)?;
        Some((key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether one is an unchanged copy of the other. Costs no look at what is in them.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// The values that are another in this table than in `before`, as they were and as they are. What the
    /// tables share is not looked at.
    pub(crate) fn changed_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (Option<&'a V>, Option<&'a V>)>
    where
        V: PartialEq,
    {
        before.0.diff(&self.0).map(|item| match item {
            DiffItem::Add(_, new) => (None, Some(&**new)),
            DiffItem::Update { old, new } => (Some(&**old.1), Some(&**new.1)),
            DiffItem::Remove(_, old) => (Some(&**old), None),
        })
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.iter().map(|(_, value)| &**value)
    }

    /// The values as they are shared: keeping one copies nothing of it.
    pub(crate) fn shared(&self) -> impl DoubleEndedIterator<Item = &Arc<V>> {
        self.0.values()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, &**value))
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Table<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Table(pairs.into_iter().map(|(key, value)| (key, Arc::new(value))).collect())
    }
}

/// A small value that is copied as a whole when it changes.
#[derive(Debug, Default)]
pub(crate) struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared(Arc::new(value))
    }
}

impl<T> Shared<T> {
    /// Whether one is an unchanged copy of the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_stays_as_it_was() {
        let mut table: Table<u32, String> = (0..500).map(|n| (n, n.to_string())).collect();
        let before = table.clone();
        table.get_mut(&7).expect("there are 500").push('!');
        assert_eq!(table.remove(&8).as_deref(), Some("8"));
        assert_eq!(table.insert(9, "nine".to_owned()).as_deref(), Some("9"));
        assert_eq!(table.pop_first(), Some((0, "0".to_owned())));
        let changed = [0, 7, 8, 9].map(|key| table.get(&key).map(String::as_str));
        assert_eq!(changed, [None, Some("7!"), None, Some("nine")]);
        let kept = [0, 7, 8, 9].map(|key| before.get(&key).map(String::as_str));
        assert_eq!(kept, [Some("0"), Some("7"), Some("8"), Some("9")]);
        assert_eq!((table.len(), before.len()), (498, 500));
    }

    #[test]
    fn what_changed_is_found() {
        let before: Table<u32, u32> = (0..500).map(|n| (n, n)).collect();
        let mut table = before.clone();
        assert_eq!(table.changed_since(&before).count(), 0);
        table.insert(7, 70);
        table.insert(8, 8);
        table.remove(&9);
        table.insert(500, 500);
        let changed: Vec<_> = table.changed_since(&before).collect();
        assert_eq!(changed, [(Some(&7), Some(&70)), (Some(&9), None), (None, Some(&500))]);
    }

    #[test]
    fn a_shared_value_is_copied_when_it_changes() {
        let mut one = Shared::new(vec![1]);
        let other = one.clone();
        one.push(2);
        assert_eq!((one.as_slice(), other.as_slice()), (&[1, 2][..], &[1][..]));
    }
}
