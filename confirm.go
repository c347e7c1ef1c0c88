package tenon

// ConfirmRule says whether somebody has to agree before a tool does its work.
// The zero value asks where Annotations.Destructive is true or the tool has a
// ConfirmFunc.
type ConfirmRule struct {
	Mode   ConfirmMode // empty: ConfirmAuto
	Action Action      // what the tool does, for programs; not empty: consent is due
	Effect string      // what the tool does, for people: "DELETE /books/{id} deletes a resource"; empty: its name
	Marked bool        // only the word of a description says that no consent is needed: who chose ConfirmArg or ConfirmHuman is asked
}

// ConfirmMode says who agrees, and how.
type ConfirmMode string

// The ways to agree.
const (
	ConfirmAuto  ConfirmMode = "auto"  // a person where the client can ask one, else as ConfirmArg
	ConfirmArg   ConfirmMode = "arg"   // the caller repeats the call with confirmed: true
	ConfirmHuman ConfirmMode = "human" // a person; a client that can ask none is refused
	ConfirmOff   ConfirmMode = "off"   // nobody is asked
)

// ParseConfirmMode reads a way to agree as an operator writes it.
func ParseConfirmMode(s string) (ConfirmMode, error) {
	return oneOf("way to confirm", ConfirmMode(s), ConfirmAuto, ConfirmArg, ConfirmHuman, ConfirmOff)
}

// Action is what a tool does to the things behind it, for programs.
type Action string

// The actions.
const (
	CreateResource  Action = "create_resource"
	ReplaceResource Action = "replace_resource"
	UpdateResource  Action = "update_resource"
	DeleteResource  Action = "delete_resource"
	RunTool         Action = "run_tool"
)

// ConfirmFunc makes the question that is asked before a handler runs, about
// arguments that have passed input validation. Only an answer with the action "accept"
// lets the call go on.
type ConfirmFunc func(args []byte) (InputRequest, error)
