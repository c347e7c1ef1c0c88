// Package gofunc makes tools of typed Go functions: a source like the others,
// whose description is the functions' types.
//
// It does not know the catalog, the gateway or any protocol. On the path of a
// description it stands beside openapi: types become schemas by package
// gotype, and [Functions] is a [tenon.Source]. On the path of a call it is the
// handler: it decodes the arguments, calls the function and encodes what it
// returns, which the gateway then checks like every other response.
//
// A panic of a function ends its call, not the process; so does a function that
// ends its goroutine (runtime.Goexit). Against the rest Go has no remedy, and the
// function must take care:
//
//   - A panic in a goroutine that the function started ends the process, unless
//     that goroutine recovers by itself.
//   - A recursion without end, a map that is written while another goroutine uses
//     it, and memory that runs out end the process too, as os.Exit does.
//   - A function that ignores its context runs on when its time is over, and its
//     caller waits for it. Its call keeps its place among those that the server
//     performs at a time.
//   - What a function returned must not change any more: it is read later.
package gofunc
