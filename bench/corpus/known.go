package main

// known are the differences that are meant: kin-openapi counts what no tool can
// send. Any other figure of these documents is a difference again.
var known = map[string]struct{ differs, reason string }{
	"6-dot-authentiqio.appspot.com.json":                    {"14 operations and 12 arguments, kin-openapi has 14 and 21", jwtBodies},
	"amadeus.com.json":                                      {"2 operations and 15 arguments, kin-openapi has 2 and 16", methodOverride},
	"amadeus.com/amadeus-branded-fares-upsell.json":         {"1 operations and 1 arguments, kin-openapi has 1 and 2", methodOverride},
	"amadeus.com/amadeus-flight-availabilities-search.json": {"1 operations and 1 arguments, kin-openapi has 1 and 2", methodOverride},
	"amadeus.com/amadeus-flight-choice-prediction.json":     {"1 operations and 1 arguments, kin-openapi has 1 and 2", methodOverride},
	"amadeus.com/amadeus-flight-offers-price.json":          {"1 operations and 3 arguments, kin-openapi has 1 and 4", methodOverride},
	"amadeus.com/amadeus-seatmap-display.json":              {"2 operations and 3 arguments, kin-openapi has 2 and 4", methodOverride},
	"azure.com/hdinsight-job.json":                          {"10 operations and 22 arguments, kin-openapi has 10 and 24", otherBodies},
	"loket.nl.json":                                         {"663 operations and 1836 arguments, kin-openapi has 663 and 1846", otherBodies},
	"maif.local/otoroshi.json":                              {"102 operations and 115 arguments, kin-openapi has 102 and 119", otherBodies},
	"mastodon.local.json":                                   {"127 operations and 203 arguments, kin-openapi has 127 and 216", otherBodies},
	"openpolicy.local.json":                                 {"16 operations and 36 arguments, kin-openapi has 16 and 50", otherBodies},
	"orthanc-server.com.json":                               {"291 operations and 641 arguments, kin-openapi has 291 and 643", otherBodies},
	"spoonacular.com.json":                                  {"99 operations and 439 arguments, kin-openapi has 99 and 445", "request bodies without a media type"},
}

const (
	methodOverride = "X-HTTP-Method-Override is no argument: it would send another method than the tool declares"
	otherBodies    = "request bodies of types that cannot be sent, with a warning each"
	jwtBodies      = otherBodies + "; operations that require them are skipped"
)
