package bookshop

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// book is what the shop shows. The order of the fields is that of the document.
type book struct {
	ID           string            `json:"id"`
	ISBN         string            `json:"isbn"`
	Title        string            `json:"title"`
	Subtitle     *string           `json:"subtitle"`
	Authors      []author          `json:"authors"`
	Year         int               `json:"year"`
	Genre        string            `json:"genre"`
	Tags         []string          `json:"tags"`
	PriceCents   int               `json:"priceCents"`
	Stock        int               `json:"stock"`
	Barcode      int64             `json:"barcode"`
	Format       format            `json:"format"`
	Translations map[string]string `json:"translations"`
	CreatedAt    time.Time         `json:"createdAt"`
}

// record is what the shop keeps: the note is written and never shown.
type record struct {
	book
	SupplierNote string `json:"supplierNote"`
}

type author struct {
	Name string `json:"name"`
	Born *int   `json:"born"`
	Died *int   `json:"died"`
}

// format is one of paperback and ebook; Kind says which.
type format struct {
	Kind       string `json:"kind"`
	Pages      int    `json:"pages,omitempty"`
	WeightG    int    `json:"weightGrams,omitempty"`
	FileFormat string `json:"fileFormat,omitempty"`
	SizeBytes  int64  `json:"sizeBytes,omitempty"`
}

func genres() []string {
	return []string{"adventure", "fantasy", "gothic", "humour", "literary", "mystery", "nonfiction", "romance", "science-fiction"}
}

var (
	isbnForm = regexp.MustCompile(`^978-[0-9]{10}$`)
	tagForm  = regexp.MustCompile(`^[a-z0-9-]{1,30}$`)
	langForm = regexp.MustCompile(`^[a-z]{2}$`)
)

// problems collects the problems of a book.
type problems []fieldError

func (f *problems) unless(ok bool, pointer, detail string) {
	if !ok {
		*f = append(*f, fieldError{Pointer: pointer, Detail: detail})
	}
}

// check returns what is wrong with the book; the document declares the same.
func (r *record) check() []fieldError {
	var f problems
	f.unless(isbnForm.MatchString(r.ISBN), "/isbn", "must be 978, a hyphen and ten digits")
	f.unless(within(utf8.RuneCountInString(r.Title), 1, 200), "/title", "must have 1 to 200 characters")
	f.unless(len(r.Authors) > 0, "/authors", "must name at least one author")
	for i, a := range r.Authors {
		f.unless(a.Name != "", fmt.Sprintf("/authors/%d/name", i), "must not be empty")
	}
	f.unless(within(r.Year, 1000, 2100), "/year", "must be from 1000 to 2100")
	f.unless(slices.Contains(genres(), r.Genre), "/genre", "must be one of "+strings.Join(genres(), ", "))
	f.unless(within(r.PriceCents, 1, 1_000_000), "/priceCents", "must be from 1 to 1000000")
	f.unless(within(r.Stock, 0, 100_000), "/stock", "must be from 0 to 100000")
	f.unless(r.Barcode >= 0, "/barcode", "must not be negative")
	r.checkTags(&f)
	r.checkTranslations(&f)
	r.Format.check(&f)
	f.unless(utf8.RuneCountInString(r.SupplierNote) <= 500, "/supplierNote", "must have at most 500 characters")
	return f
}

func (b *book) checkTags(f *problems) {
	f.unless(len(b.Tags) <= 10, "/tags", "must be at most 10")
	for i, tag := range b.Tags {
		at := fmt.Sprintf("/tags/%d", i)
		f.unless(tagForm.MatchString(tag), at, "must be small letters, digits and hyphens")
		f.unless(!slices.Contains(b.Tags[:i], tag), at, "is there twice")
	}
}

func (b *book) checkTranslations(f *problems) {
	for lang, title := range b.Translations {
		f.unless(langForm.MatchString(lang), "/translations", "must have language codes of two small letters as names")
		f.unless(title != "", "/translations", "must have no empty title")
	}
}

func (m format) check(f *problems) {
	switch m.Kind {
	case "paperback":
		f.unless(m.Pages > 0, "/format/pages", "must be at least 1")
		f.unless(m.WeightG >= 0, "/format/weightGrams", "must not be negative")
		f.unless(m.FileFormat == "" && m.SizeBytes == 0, "/format", "a paperback has no file")
	case "ebook":
		f.unless(slices.Contains([]string{"epub", "pdf"}, m.FileFormat), "/format/fileFormat", "must be epub or pdf")
		f.unless(m.SizeBytes > 0, "/format/sizeBytes", "must be at least 1")
		f.unless(m.Pages == 0 && m.WeightG == 0, "/format", "an ebook has no pages and no weight")
	default:
		f.unless(false, "/format/kind", "must be paperback or ebook")
	}
}

func within(n, low, high int) bool { return n >= low && n <= high }
