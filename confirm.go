package tenon

// ConfirmRule says whether a call needs confirmation. The zero value asks for
// it if Annotations.Destructive is true or the tool has a ConfirmFunc.
type ConfirmRule struct {
	Mode   ConfirmMode // empty: ConfirmAuto
	Action Action      // what the tool does, for programs; not empty: confirmation is needed
	Effect string      // what the tool does, for people: "DELETE /books/{id} deletes a resource"; empty: its name
	Marked bool        // only a marking in the description says that no confirmation is needed: ConfirmArg and ConfirmHuman ask anyway
}

// ConfirmMode says who confirms a call, and how.
type ConfirmMode string

// The ways to confirm.
const (
	ConfirmAuto  ConfirmMode = "auto"  // the user if the client supports elicitation, else as ConfirmArg
	ConfirmArg   ConfirmMode = "arg"   // the caller repeats the call with confirmed: true
	ConfirmHuman ConfirmMode = "human" // the user; clients without elicitation are refused
	ConfirmOff   ConfirmMode = "off"   // no confirmation
)

// ParseConfirmMode parses the value of a flag or config key.
func ParseConfirmMode(s string) (ConfirmMode, error) {
	return oneOf("way to confirm", ConfirmMode(s), ConfirmAuto, ConfirmArg, ConfirmHuman, ConfirmOff)
}

// Action is the effect of a tool, for programs.
type Action string

// The actions.
const (
	CreateResource  Action = "create_resource"
	ReplaceResource Action = "replace_resource"
	UpdateResource  Action = "update_resource"
	DeleteResource  Action = "delete_resource"
	RunTool         Action = "run_tool"
)

// ConfirmFunc makes the request for confirmation from arguments that have passed
// input validation. The call continues only after the action "accept".
type ConfirmFunc func(args []byte) (InputRequest, error)
