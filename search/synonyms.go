package search

import (
	"slices"
	"strings"
)

// The words that people use for one thing. The first of a line is what
// descriptions of services write, the others are other words for it; two that
// mean it together are joined by a plus.
const kin = `
create add new make open file register post submit write publish set+up share start
delete remove erase drop destroy discard uninstall rid get+rid throw+away clear purge take+off
update change edit modify alter rename set patch replace adjust write
get show fetch read see retrieve display view inspect
list all every enumerate which show
search find look+for seek query mention
start run launch boot begin trigger fire execute
stop cancel abort halt kill end interrupt
cancel abort stop halt kill
rerun retry again repeat
run rerun
restore undelete recover bring+back
enable activate allow permit turn+on switch+on
disable deactivate forbid turn+off switch+off
check whether verify
protection forbid protect guard prevent
lock freeze
merge land integrate
fork copy clone duplicate
close finish resolve
transfer hand+over
upload send
download export
user person people someone somebody account who anyone anybody author
member employee people person colleague
organization company org firm business
repository repo project codebase
pull pr
request pr ask
review look+over inspect approve feedback
reviewer look+over
issue bug ticket problem
label tag
comment reply remark note answer
conversation comment discussion
collaborator permission
assignee responsible assign owner
email mail
image picture photo
cover picture image
workflow ci pipeline build action
run build
dispatch trigger fire manual manually hand
job step task
log output console
permission right access
secret password credential
token key
content file text source code
file change
file path
commit change revision
branch main master
runner machine
hosted machine
rate request
limit quota maximum max left remaining
retention kept keep
notification inbox message
invitation invite join
subscription subscribe watch
watch follow
follower follow
stargazer star like
webhook hook callback
license term
traffic visitor view visit
view visitor visit
contributor wrote written write author
stock copy left available warehouse
price cost money cheap expensive
sale earn revenue income
plan pricing tier
category genre kind
topic keyword
dependency depend component library
vulnerability vulnerable hole weakness security
alert problem warning finding vulnerable
codespace dev development
gist snippet
page website site
authenticated my me i mine own myself
configuration config setting
release version
failed fail broken break
sbom spdx
zipball zip
tarball tar
`

// kinship maps the stem of a word to the stems of the words that descriptions
// may have in its place.
func kinship() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(kin) {
		names := strings.Fields(line)
		if len(names) == 0 {
			continue
		}
		written := stem(names[0])
		for _, name := range names[1:] {
			first, second, two := strings.Cut(name, "+")
			asked := stem(first)
			if two {
				asked += " " + stem(second)
			}
			if asked != written && !slices.Contains(all[asked], written) {
				all[asked] = append(all[asked], written)
			}
		}
	}
	return all
}
