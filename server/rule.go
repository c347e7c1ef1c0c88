package server

// rule is one demand of the protocol on a server. Every one of them has a test
// of its name, and the tests switch the rules off one by one to see that their
// test notices: a rule that nothing notices is not tested. Nothing else can
// switch a rule off.
type rule uint64

const (
	ruleNotification     rule = 1 << iota // a notification is accepted with 202 and no body
	ruleOrigin                            // a page of a foreign origin is refused with 403
	ruleHost                              // a foreign host name on a loopback address is refused with 403
	ruleVersionHeader                     // the version header equals the body
	ruleMethodHeader                      // Mcp-Method equals the body
	ruleNameHeader                        // Mcp-Name equals the body
	ruleBase64                            // Mcp-Name in base64 is decoded before it is compared
	ruleTrim                              // white space around a header is not part of it
	ruleMetaVersion                       // _meta names the version
	ruleMetaCapabilities                  // _meta holds the client's capabilities
	ruleVersion                           // an unknown version is refused with the known ones
	ruleStatus404                         // an unknown method is 404
	ruleResultType                        // every result names its type
	ruleCaching                           // lists and discover say for how long they hold
	ruleDeclared                          // what is not declared is not served
	ruleNoRequests                        // a question is never a request of the server's own
	ruleAble                              // nothing is asked that the client did not declare
	ruleState                             // a state that was tampered with is refused
	ruleBinding                           // a state belongs to its request
	ruleAskAgain                          // a missing answer is asked for again
	ruleUnknownKeys                       // answers that nobody asked for are ignored
	ruleAcknowledge                       // the acknowledgement comes first
	ruleSubscription                      // every message of a subscription names it
	ruleFilter                            // only what was asked for is sent
	ruleGoodbye                           // a subscription that the server ends has a result
	ruleDisconnect                        // closing the stream cancels the call
	ruleSilence                           // nothing is sent for a cancelled request
	ruleLogLevel                          // no log message without a level
	ruleProgress                          // progress grows
	ruleBound                             // headers that repeat arguments equal them
	ruleBoundAbsent                       // such a header is absent where its argument is
	ruleBoundNumber                       // numbers are compared as numbers
	ruleID                                // an id is a string or an integer
	ruleOneLine                           // a message on stdio is one line
	ruleBatch                             // only 2025-03-26 has batches
	ruleBatchSize                         // a batch is bounded
	ruleSession                           // an ended session is 404
	ruleLink                              // a link is text before 2025-06-18
	ruleForm                              // a form that is filled in wrongly never reaches who asked
	ruleStream                            // what is said before the answer makes it an event stream
	ruleOnlyPost                          // without a session only POST is served
	ruleCase                              // values of headers are compared with their case
	ruleDiscover                          // discover is served without anything before it
	ruleRounds                            // only calls, prompts and resources have rounds
	ruleInput                             // an answer that needs input says which, and has a state
	ruleKeys                              // the keys of questions are unique
	ruleSeveral                           // several subscriptions live side by side
	ruleBoundLegal                        // an annotation that breaks a rule binds no header
	ruleBoundRange                        // a header carries no integer that JavaScript cannot
	ruleSameID                            // an answer has the id of its request
	ruleOnlyMessages                      // nothing but messages is on the output of stdio
	ruleDrain                             // what was asked before the input ended is answered
	ruleEnd                               // the end of the input ends the conversation
	ruleBusy                              // calls at a time are bounded
	ruleHandshake                         // initialize is answered with a version that is served
	endOfRules
)

// lax reports whether a rule is switched off.
func (s *Server) lax(r rule) bool { return s.off&r != 0 }
