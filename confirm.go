package tenon

// ConsentRule says whether somebody has to agree before a tool does its work.
// The zero value asks where Hints.Destructive is true or the tool has a
// Confirmer.
type ConsentRule struct {
	Mode   ConsentMode // empty: ConsentAuto
	Action Action      // what the tool does, for programs; not empty: consent is due
	Effect string      // what the tool does, for people: "DELETE /books/{id} deletes a resource"; empty: its name
	Marked bool        // only the word of a description says that no consent is needed: who chose ConsentArg or ConsentHuman is asked
}

// ConsentMode says who agrees, and how.
type ConsentMode string

// The ways to agree.
const (
	ConsentAuto  ConsentMode = "auto"  // a person where the client can ask one, else as ConsentArg
	ConsentArg   ConsentMode = "arg"   // the caller repeats the call with confirmed: true
	ConsentHuman ConsentMode = "human" // a person; a client that can ask none is refused
	ConsentOff   ConsentMode = "off"   // nobody is asked
)

// ParseConsent reads a way to agree as an operator writes it.
func ParseConsent(s string) (ConsentMode, error) {
	return oneOf("way to confirm", ConsentMode(s), ConsentAuto, ConsentArg, ConsentHuman, ConsentOff)
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

// Confirmer makes the question that is asked before a handler runs, about
// arguments that have passed wall one. Only an answer with the action "accept"
// lets the call go on.
type Confirmer func(args []byte) (Question, error)
