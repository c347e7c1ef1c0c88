package main

import (
	"fmt"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// task is what somebody asks an agent to do, as the calls of a model that knows how.
// find has what it searches for and which of the tools that are found it reads about.
type task struct {
	what string
	find []found
	do   func(m *model) error
}

type found struct{ query, tool string }

func app(more ...any) object {
	args := object{"owner": "acme", "repo": "app"}
	for i := 0; i < len(more); i += 2 {
		args[fmt.Sprint(more[i])] = more[i+1]
	}
	return args
}

const (
	listIssues = "issues_list-for-repo"
	listLabels = "issues_list-labels-for-repo"
	makeLabel  = "issues_create-label"
)

// The tasks of the reference that this is compared with: ten over GitHub's document.
func tasks() []task {
	issues := found{"list issues of a repository", listIssues}
	return []task{
		{"open issues by author", []found{issues}, func(m *model) error {
			seen := 0
			for page := 1; page <= 3; page++ {
				list, err := m.list(listIssues, app("per_page", 100, "page", page), "[].user.login")
				if err != nil {
					return err
				}
				seen += len(list)
			}
			return expect("issues", seen, issuesOfApp)
		}},
		{"open bugs, with the company of who reported them", []found{issues, {"get a user by username", "users_get-by-username"}}, func(m *model) error {
			list, err := m.list(listIssues, app("labels", "bug", "per_page", 100), "[].number", "[].user.login", "[].updated_at")
			if err != nil {
				return err
			}
			for i := range 4 {
				if err := m.do("users_get-by-username", object{"username": login(list[i])}, "company"); err != nil {
					return err
				}
			}
			return nil
		}},
		{"labels that are missing", []found{{"list labels of a repository", listLabels}, {"create a label", makeLabel}}, func(m *model) error {
			if _, err := m.list(listLabels, app(), "[].name"); err != nil {
				return err
			}
			return m.each(5, func(i int) error {
				return m.do(makeLabel, app("body", object{"name": fmt.Sprintf("p%d", i), "color": "ededed"}), "id")
			}, 5)
		}},
		{"issues without labels need triage", []found{issues, {"add labels to an issue", "issues_add-labels"}}, func(m *model) error {
			list, err := m.list(listIssues, app("per_page", 100), "[].number", "[].labels[].name")
			if err != nil {
				return err
			}
			if err := expect("issues", len(list), 100); err != nil {
				return err
			}
			return m.each(5, func(i int) error {
				return m.do("issues_add-labels", app("issue_number", 10*(i+1), "body", object{"labels": []string{"needs-triage"}}), "[].name")
			}, 5)
		}},
		{"pull requests without an approval", []found{{"list pull requests", "pulls_list"}, {"list reviews of a pull request", "pulls_list-reviews"}}, func(m *model) error {
			list, err := m.list("pulls_list", app(), "[].number", "[].title")
			if err != nil {
				return err
			}
			return m.each(len(list), func(i int) error { return m.do("pulls_list-reviews", app("pull_number", i+1), "[].state") }, 0)
		}},
		{"stars and open issues of all repositories", []found{{"list repositories of an organization", "repos_list-for-org"}}, func(m *model) error {
			list, err := m.list("repos_list-for-org", object{"org": "acme", "per_page": 100}, "[].name", "[].archived", "[].stargazers_count", "[].open_issues_count")
			if err != nil {
				return err
			}
			return expect("repositories", len(list), 30)
		}},
		{"who comments most in the 15 most discussed issues", []found{issues, {"list comments of an issue", "issues_list-comments"}}, func(m *model) error {
			list, err := m.list(listIssues, app("sort", "comments", "per_page", 15), "[].number", "[].comments")
			if err != nil {
				return err
			}
			if err := expect("issues", min(len(list), 15), 15); err != nil {
				return err
			}
			return m.each(15, func(i int) error { return m.do("issues_list-comments", app("issue_number", i+1), "[].user.login") }, 0)
		}},
		{"close old questions with a comment", []found{issues, {"comment on an issue", "issues_create-comment"}, {"update an issue", "issues_update"}}, func(m *model) error {
			if _, err := m.list(listIssues, app("labels", "question", "per_page", 100), "[].number", "[].comments", "[].updated_at"); err != nil {
				return err
			}
			return m.each(6, func(i int) error {
				if err := m.do("issues_create-comment", app("issue_number", 3*i+2, "body", object{"body": "Closed, because nobody answered."}), "id"); err != nil {
					return err
				}
				return m.do("issues_update", app("issue_number", 3*i+2, "body", object{"state": "closed"}), "state")
			}, 12)
		}},
		{"the labels of one repository in three others", []found{{"list labels of a repository", listLabels}, {"create a label", makeLabel}}, func(m *model) error {
			if _, err := m.list(listLabels, app(), "[].name", "[].color"); err != nil {
				return err
			}
			return m.each(9, func(i int) error {
				return m.do(makeLabel, object{"owner": "acme", "repo": fmt.Sprintf("repo-0%d", i%3+1), "body": object{"name": fmt.Sprintf("copied-%d", i), "color": "f29513"}}, "id")
			}, 9)
		}},
		{"the open milestones", []found{{"list milestones", "issues_list-milestones"}}, func(m *model) error {
			_, err := m.list("issues_list-milestones", app(), "[].title", "[].due_on", "[].open_issues")
			return err
		}},
	}
}

func login(issue any) string {
	v, _ := issue.(object)
	u, _ := v["user"].(object)
	return fmt.Sprint(u["login"])
}

func expect(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%d %s, not %d", got, what, want)
	}
	return nil
}

// each makes calls, which change the service so many times.
func (m *model) each(n int, call func(int) error, writes int) error {
	before := m.standIn.writes
	for i := range n {
		if err := call(i); err != nil {
			return err
		}
	}
	return expect("writes", m.standIn.writes-before, writes)
}

func (m *model) do(tool string, args object, fields ...string) error {
	_, err := m.tool(tool, args, fields)
	return err
}

func (m *model) list(tool string, args object, fields ...string) ([]any, error) {
	data, err := m.tool(tool, args, fields)
	list, ok := data.([]any)
	if err == nil && !ok {
		err = fmt.Errorf("%s returned no list: %.200v", tool, data)
	}
	return list, err
}

// short is a name for a table.
func short(text string) string { return strings.ReplaceAll(text, "|", " ") }
