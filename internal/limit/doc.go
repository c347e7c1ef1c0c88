// Package limit holds callers to the operator's limits: how fast, how often a day and
// how many at a time they may call what.
//
// It does not know who a caller is, nor how a request came: the context of a call says
// so. It does not bound what a caller holds of the server (calls at a time of all tools,
// bytes, sessions, tasks): the server does, and asks [Limiter.Allowance] for how much.
//
// It is on the path of a call where [gateway.Admission] is asked, before anything is
// done with the call.
//
// Rules of this package:
//
//   - A call asks the store once, however many limits it has, and one that was refused
//     is not asked for again before it can succeed.
//   - A call that is refused counts against nothing.
//   - What is remembered of callers is bounded, whatever they call themselves.
package limit
