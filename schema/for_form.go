package schema

// flat makes sure that a plan is that of a form: clients show fields of one
// level, for texts, numbers, yes or no, and choices.
func (p *plan) flat() error {
	if p.kind != planStruct {
		return typeError(p.typ.String(), "a form is a struct")
	}
	for i := range p.fields {
		f := &p.fields[i]
		field := target(f.plan)
		if field.kind == planList {
			field = target(field.elem)
			if field.enum == nil && (f.rules.each == nil || f.rules.each.enum == nil) {
				return typeError(p.typ.String()+"."+f.name, "a list in a form is a choice: its items need an enum")
			}
		}
		if field.kind > planString && field.kind != planTime && field.kind != planText || f.quoted {
			return typeError(p.typ.String()+"."+f.name, "no field of a form: those are texts, numbers, booleans, enums and lists of enums")
		}
	}
	return nil
}
