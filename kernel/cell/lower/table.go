package lower

// A table is a map whose new entries belong to the unit being made until that is committed.
type table[K comparable, V any] struct{ kept, fresh map[K]V }

// A transaction is kept or dropped as a whole.
type transaction interface {
	keep()
	drop()
}

func (t *table[K, V]) get(k K) (V, bool) {
	if v, ok := t.fresh[k]; ok {
		return v, true
	}
	v, ok := t.kept[k]
	return v, ok
}

func (t *table[K, V]) has(k K) bool { _, ok := t.get(k); return ok }

func (t *table[K, V]) put(k K, v V) { t.fresh[k] = v }

func (t *table[K, V]) keep() {
	for k, v := range t.fresh {
		t.kept[k] = v
	}
	t.fresh = map[K]V{}
}

func (t *table[K, V]) drop() {
	if t.kept == nil {
		t.kept = map[K]V{}
	}
	t.fresh = map[K]V{}
}
