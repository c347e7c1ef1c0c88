package functionapp_test

import (
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon/functionapp"
)

// A function.json tells by its bindings what a function is. A tool's trigger
// holds its arguments as JSON in a string.
func ExampleParseFunction() {
	f, err := functionapp.ParseFunction([]byte(`{"bindings": [{
		"type": "mcpToolTrigger", "name": "context", "direction": "in",
		"toolName": "get_forecast", "description": "Daily forecast for a city.",
		"toolProperties": "[{\"propertyName\":\"city\",\"propertyType\":\"string\",\"description\":\"Where.\",\"isRequired\":true}]"
	}]}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, binding := range f.Bindings {
		if functionapp.TypeOf(binding) != functionapp.ToolTrigger {
			continue
		}
		tool, notes, err := functionapp.ReadTool(binding)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name, len(notes))
		fmt.Printf("%s\n", tool.InputSchema())
	}
	// Output:
	// get_forecast 0
	// {"type":"object","properties":{"city":{"type":"string","description":"Where."}},"required":["city"]}
}

// A resource with variables in its address stands for all addresses of its
// form.
func ExampleParseTemplate() {
	t, err := functionapp.ParseTemplate("weather://station/{city}")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Match("weather://station/London"))
	// Output:
	// map[city:London] true
}
