package app

import (
	"fmt"
	"strconv"
	"time"
)

// parseInto reads the text of a value into the field that p points to.
func parseInto(p any, text string) (err error) {
	switch p := p.(type) {
	case *string:
		*p = text
	case *bool:
		*p, err = strconv.ParseBool(text)
	case *int:
		*p, err = strconv.Atoi(text)
	case *int64:
		*p, err = strconv.ParseInt(text, 10, 64)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*p, err = time.ParseDuration(text)
	case *PerTool:
		err = p.Set(text)
	default:
		err = fmt.Errorf("a setting cannot be a %T", p)
	}
	return err
}
