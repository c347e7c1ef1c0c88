package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// standIn answers like a small part of GitHub's API, with objects as large as those of
// the service, and keeps what is written to it.
type standIn struct {
	mu     sync.Mutex
	labels map[string][]any // by repository
	issues []map[string]any
	writes int
}

const issuesOfApp = 250

func newStandIn() *standIn {
	s := &standIn{labels: map[string][]any{}}
	for _, name := range []string{"bug", "feature", "question", "docs"} {
		s.labels["app"] = append(s.labels["app"], label("app", name))
	}
	for i := 1; i <= issuesOfApp; i++ {
		s.issues = append(s.issues, issue(i))
	}
	return s
}

func user(i int) map[string]any {
	login := fmt.Sprintf("user-%02d", i%20)
	u := map[string]any{"login": login, "id": 1000 + i%20, "node_id": "MDQ6VXNlcj" + strconv.Itoa(i%20), "gravatar_id": "", "type": "User", "site_admin": false}
	for _, part := range []string{"avatar", "", "html", "followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events", "received_events"} {
		u[strings.TrimPrefix(part+"_url", "_")] = "https://api.github.com/users/" + login + "/" + part
	}
	return u
}

func label(repo, name string) map[string]any {
	return map[string]any{"id": 208045946, "node_id": "MDU6TGFiZWwyMDgwNDU5NDY=", "url": "https://api.github.com/repos/acme/" + repo + "/labels/" + name, "name": name, "description": "Something about " + name, "color": "f29513", "default": false}
}

func issue(i int) map[string]any {
	at := "https://api.github.com/repos/acme/app/issues/" + strconv.Itoa(i)
	v := map[string]any{
		"id": 5000 + i, "node_id": "MDU6SXNzdWUx" + strconv.Itoa(i), "url": at, "repository_url": "https://api.github.com/repos/acme/app", "labels_url": at + "/labels{/name}",
		"comments_url": at + "/comments", "events_url": at + "/events", "html_url": "https://github.com/acme/app/issues/" + strconv.Itoa(i), "number": i, "state": "open",
		"title": fmt.Sprintf("Something is wrong with part %d", i), "body": strings.Repeat("When I press the button the page stays empty. ", 6), "user": user(i), "labels": []any{}, "assignee": nil, "assignees": []any{},
		"milestone": nil, "locked": false, "active_lock_reason": nil, "comments": i % 40, "closed_at": nil, "created_at": "2026-09-01T10:00:00Z", "updated_at": "2026-11-01T10:00:00Z", "author_association": "NONE",
		"reactions": map[string]any{"url": at + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "confused": 0, "heart": 0, "hooray": 0, "rocket": 0, "eyes": 0},
	}
	if i%10 != 0 {
		v["labels"] = []any{label("app", []string{"bug", "feature", "question"}[i%3])}
	}
	return v
}

func repository(i int) map[string]any {
	name := fmt.Sprintf("repo-%02d", i)
	at := "https://api.github.com/repos/acme/" + name
	v := map[string]any{"id": i, "node_id": "MDEwOlJlcG9zaXRvcnk" + strconv.Itoa(i), "name": name, "full_name": "acme/" + name, "private": false, "owner": user(i), "description": "A repository of the company", "fork": false, "archived": i%5 == 0, "stargazers_count": i * 7, "open_issues_count": i, "language": "Go", "default_branch": "main"}
	for _, part := range strings.Fields("html archive assignees blobs branches collaborators comments commits compare contents contributors deployments downloads events forks git_commits git_refs git_tags git issue_comment issue_events issues keys labels languages merges milestones notifications pulls releases ssh stargazers statuses subscribers subscription tags teams trees clone mirror hooks svn") {
		v[part+"_url"] = at + "/" + part
	}
	return v
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	if r.Method != http.MethodGet {
		s.writes++
		_ = json.NewDecoder(r.Body).Decode(&body)
	}
	value, status := s.answer(r, strings.Split(strings.Trim(r.URL.Path, "/"), "/"), body)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// answer is what the service would say: part are those of the path.
func (s *standIn) answer(r *http.Request, part []string, body map[string]any) (value any, status int) {
	switch path := strings.Join(part, "/"); {
	case part[0] == "users":
		u := user(len(part[1]))
		for key, value := range map[string]any{
			"login": part[1], "company": "Acme " + part[1], "name": "A person", "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil, "twitter_username": nil,
			"public_repos": 3, "public_gists": 0, "followers": 5, "following": 7, "created_at": "2020-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
		} {
			u[key] = value
		}
		return u, http.StatusOK
	case part[0] == "orgs":
		var all []any
		for i := 1; i <= 30; i++ {
			all = append(all, repository(i))
		}
		return all, http.StatusOK
	case strings.HasSuffix(path, "/reviews"):
		n, _ := strconv.Atoi(part[4])
		state := "APPROVED"
		if n%3 == 0 {
			state = "COMMENTED"
		}
		return []any{map[string]any{"id": n, "node_id": "MDE3OlB1bGw", "user": user(n), "body": strings.Repeat("Looks good to me. ", 10), "state": state, "html_url": "https://github.com/acme/app/pull/1", "pull_request_url": "https://api.github.com/repos/acme/app/pulls/1", "_links": map[string]any{"html": map[string]any{"href": "https://github.com/acme/app/pull/1"}, "pull_request": map[string]any{"href": "https://api.github.com/repos/acme/app/pulls/1"}}, "commit_id": "ecdd80bb57125d7ba9641ffaa4d7d2c19d3f3091", "author_association": "MEMBER"}}, http.StatusOK
	case strings.HasSuffix(path, "/pulls"):
		var all []any
		for i := 1; i <= 21; i++ {
			v := issue(i)
			for _, end := range []string{"head", "base"} {
				v[end] = map[string]any{"label": "acme:" + end, "ref": end, "sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e", "user": user(i), "repo": repository(i)}
			}
			all = append(all, v)
		}
		return all, http.StatusOK
	case strings.HasSuffix(path, "/milestones"):
		return []any{map[string]any{"number": 1, "title": "v1.0", "state": "open", "due_on": "2026-12-24T00:00:00Z", "open_issues": 4, "closed_issues": 8, "creator": user(1), "description": "The first one", "url": "https://api.github.com/repos/acme/app/milestones/1"}}, http.StatusOK
	case strings.HasSuffix(path, "/labels") && len(part) == 4:
		if r.Method == http.MethodPost {
			made := label(part[2], fmt.Sprint(body["name"]))
			s.labels[part[2]] = append(s.labels[part[2]], made)
			return made, http.StatusCreated
		}
		return append([]any{}, s.labels[part[2]]...), http.StatusOK
	case strings.HasSuffix(path, "/comments"):
		n, _ := strconv.Atoi(part[4])
		comment := map[string]any{"id": n, "node_id": "MDEyOklzc3Vl", "url": "https://api.github.com/repos/acme/app/issues/comments/1", "html_url": "https://github.com/acme/app/issues/1#issuecomment-1", "body": strings.Repeat("The same happens here. ", 5), "user": user(n), "created_at": "2026-10-01T10:00:00Z", "updated_at": "2026-10-01T10:00:00Z", "issue_url": "https://api.github.com/repos/acme/app/issues/1", "author_association": "NONE"}
		if r.Method == http.MethodPost {
			return comment, http.StatusCreated
		}
		return []any{comment, comment, comment}, http.StatusOK
	case len(part) > 4 && part[3] == "issues":
		return s.write(part, body)
	}
	return s.page(r), http.StatusOK
}

// write changes an issue.
func (s *standIn) write(part []string, body map[string]any) (value any, status int) {
	n, _ := strconv.Atoi(part[4])
	v := s.issues[n-1]
	if len(part) == 6 { // its labels
		list, _ := body["labels"].([]any)
		for _, name := range list {
			old, _ := v["labels"].([]any)
			v["labels"] = append(old, label("app", fmt.Sprint(name)))
		}
		return v["labels"], http.StatusOK
	}
	if body["state"] != nil {
		v["state"] = body["state"]
	}
	return v, http.StatusOK
}

// page is a page of the open issues, with those labels.
func (s *standIn) page(r *http.Request) []any {
	q := r.URL.Query()
	size, _ := strconv.Atoi(q.Get("per_page"))
	at, _ := strconv.Atoi(q.Get("page"))
	size, at = max(size, 30), max(at, 1)
	all := []any{}
	for _, v := range s.issues {
		named := q.Get("labels") == ""
		for _, l := range v["labels"].([]any) {
			one, _ := l.(map[string]any)
			named = named || one["name"] == q.Get("labels")
		}
		if named && v["state"] == "open" {
			all = append(all, v)
		}
	}
	from := min((at-1)*size, len(all))
	return all[from:min(from+size, len(all))]
}
