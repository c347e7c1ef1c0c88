package redis_test

import (
	"fmt"

	"github.com/tenon-mcp/tenon/redis"
)

func ExampleCheck() {
	fmt.Println(redis.Check("redis+sentinel://one.internal,two.internal/shop"))
	fmt.Println(redis.Check("redis://tenon:password@store.internal"))
	// Output:
	// <nil>
	// only the name of a user stands before the @; the password does not belong into the URL
}
