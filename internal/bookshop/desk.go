package bookshop

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// stock is the answer of getStock.
type stock struct {
	BookID    string    `json:"bookId"`
	Count     int       `json:"count"`
	Reserved  int       `json:"reserved"`
	Warehouse warehouse `json:"warehouse"`
}

type warehouse struct {
	Code string `json:"code"`
	City string `json:"city"`
}

// oddStock is what the shop answers for BrokenStock: the record of an older
// system that nobody moved.
type oddStock struct {
	BookID   string `json:"bookId"`
	Count    string `json:"count"`
	Reserved int    `json:"reserved"`
}

func (s *Shop) getStock(w http.ResponseWriter, r *http.Request) *problem {
	b, p := s.wanted(r)
	if p != nil {
		return p
	}
	reserved := b.Stock / 5
	if b.ID == BrokenStock {
		writeJSON(w, http.StatusOK, oddStock{BookID: b.ID, Count: strconv.Itoa(b.Stock), Reserved: reserved})
		return nil
	}
	houses := [...]warehouse{{Code: "LEI-2", City: "Leipzig"}, {Code: "HAY-1", City: "Hay-on-Wye"}, {Code: "REV-4", City: "Reykjavík"}}
	writeJSON(w, http.StatusOK, stock{
		BookID: b.ID, Count: b.Stock, Reserved: reserved, Warehouse: houses[b.Year%len(houses)],
	})
	return nil
}

// category is a node of the tree of categories.
type category struct {
	Slug     string     `json:"slug"`
	Name     string     `json:"name"`
	Books    int        `json:"books"` // in it and below it
	Children []category `json:"children"`
}

func (s *Shop) listCategories(w http.ResponseWriter, _ *http.Request) *problem {
	count := map[string]int{}
	for _, b := range s.find(func(*book) bool { return true }) {
		count[b.Genre]++
	}
	leaf := func(slug, name string) category {
		return category{Slug: slug, Name: name, Books: count[slug], Children: []category{}}
	}
	writeJSON(w, http.StatusOK, []category{
		branch("fiction", "Fiction",
			leaf("adventure", "Adventure"),
			leaf("humour", "Humour"),
			leaf("literary", "Literary fiction"),
			leaf("mystery", "Mystery"),
			leaf("romance", "Romance"),
			branch("speculative", "Speculative fiction",
				leaf("fantasy", "Fantasy"),
				leaf("gothic", "Gothic"),
				leaf("science-fiction", "Science fiction"))),
		leaf("nonfiction", "Non-fiction"),
	})
	return nil
}

func branch(slug, name string, children ...category) category {
	c := category{Slug: slug, Name: name, Children: children}
	for _, child := range children {
		c.Books += child.Books
	}
	return c
}

func (s *Shop) exportBooks(w http.ResponseWriter, _ *http.Request) *problem {
	var text strings.Builder
	out := csv.NewWriter(&text)
	rows := [][]string{{"id", "isbn", "title", "authors", "year", "genre", "price_cents", "stock", "barcode"}}
	for _, b := range s.find(func(*book) bool { return true }) {
		names := make([]string, len(b.Authors))
		for i, a := range b.Authors {
			names[i] = a.Name
		}
		rows = append(rows, []string{
			b.ID, b.ISBN, b.Title, strings.Join(names, "; "), strconv.Itoa(b.Year), b.Genre,
			strconv.Itoa(b.PriceCents), strconv.Itoa(b.Stock), strconv.FormatInt(b.Barcode, 10),
		})
	}
	if err := out.WriteAll(rows); err != nil {
		return newProblem(http.StatusInternalServerError, "The list cannot be written.")
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="books.csv"`)
	_, _ = w.Write([]byte(text.String())) // a client that left needs no list
	return nil
}

// sales is the answer of salesReport.
type sales struct {
	From       string          `json:"from"`
	To         string          `json:"to"`
	Copies     int             `json:"copies"`
	TotalCents int64           `json:"totalCents"`
	ByGenre    map[string]sold `json:"byGenre"`
	BestSeller *string         `json:"bestSeller"` // id of a book; null: nothing was sold
}

type sold struct {
	Copies int   `json:"copies"`
	Cents  int64 `json:"cents"`
}

// salesReport takes as long as it is asked to, unless the client leaves.
func (s *Shop) salesReport(w http.ResponseWriter, r *http.Request) *problem {
	seconds, p := number(r.URL.Query(), "seconds", 1, 0, 5)
	if p != nil {
		return p
	}
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-r.Context().Done():
		return newProblem(http.StatusServiceUnavailable, "The client left before the report was ready.")
	}
	report := sales{From: "2024-01-01", To: "2024-12-31", ByGenre: map[string]sold{}}
	best := 0
	for _, b := range s.find(func(*book) bool { return true }) {
		copies := b.Year%97 + 3 // nobody counted; it only has to stay the same
		cents := int64(copies) * int64(b.PriceCents)
		g := report.ByGenre[b.Genre]
		report.ByGenre[b.Genre] = sold{Copies: g.Copies + copies, Cents: g.Cents + cents}
		report.Copies += copies
		report.TotalCents += cents
		if copies > best {
			best, report.BestSeller = copies, &b.ID
		}
	}
	writeJSON(w, http.StatusOK, report)
	return nil
}
