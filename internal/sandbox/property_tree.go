//go:build amd64 || arm64

package sandbox

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// Stairs are made for objects of at most maxStairs members, by lists of at
// least fewSteps.
const (
	maxStairs = 16
	fewSteps  = 32
)

// stairs keeps the shapes that lead to that of an object, from no member on.
// The engine makes the shape of {a} into that of {a, b} where nobody else has
// it, and so would make it again for every object that a list gets. What is
// returned must be freed.
func (e *engine) stairs(o lib.TJSValue) (kept []lib.TJSValue) {
	if tagOf(o) != lib.EJS_TAG_OBJECT || objectOf(o).Fclass_id != lib.EJS_CLASS_OBJECT {
		return nil
	}
	shape := shapeOf(objectOf(o))
	if shape.Fproto != e.objectProto || shape.Fis_hashed == 0 || shape.Fdeleted_prop_count != 0 || shape.Fprop_count > maxStairs {
		return nil
	}
	const size = 2 * int(unsafe.Sizeof(uintptr(0)))
	room := e.tls.Alloc(size)
	defer e.tls.Free(size)
	list, length := room, room+unsafe.Sizeof(uintptr(0))
	if lib.XJS_GetOwnPropertyNames(e.tls, e.ctx, list, length, o, lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY) < 0 {
		e.drop()
		return nil
	}
	names, count := at[uintptr](list, 1)[0], at[uint32](length, 1)[0]
	defer lib.XJS_FreePropertyEnum(e.tls, e.ctx, names, count)
	all := at[lib.TJSPropertyEnum](names, count)
	for i := range all {
		step, ok := e.withMembers(all[:i])
		if !ok {
			break
		}
		kept = append(kept, step)
	}
	return kept
}

// withMembers makes an object that has members of these names.
func (e *engine) withMembers(names []lib.TJSPropertyEnum) (lib.TJSValue, bool) {
	o := lib.XJS_NewObject(e.tls, e.ctx)
	if threw(o) {
		e.drop()
		return o, false
	}
	for _, n := range names {
		if lib.XJS_DefinePropertyValue(e.tls, e.ctx, o, n.Fatom, undefined(), lib.MJS_PROP_C_W_E) < 0 {
			e.drop()
			e.release(o)
			return o, false
		}
	}
	return o, true
}
