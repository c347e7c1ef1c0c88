package bookshop

import (
	"fmt"
	"strconv"
	"time"
)

const firstNumber = 1001 // of the first book; its id is b1001

// firstBooks returns the books that a shop starts with, the same each time.
// Their ISBNs are made up.
func firstBooks() []record {
	books := append(seedBooks(), moreBooks()...)
	records := make([]record, len(books))
	for i, b := range books {
		b.number(i)
		records[i] = record{book: b}
	}
	return records
}

func seedBooks() []book {
	return []book{
		{
			Title: "Pride and Prejudice", Authors: by("Jane Austen", 1775, 1817), Year: 1813, Genre: "romance", Stock: 9,
			Tags: []string{"england", "family", "satire"}, PriceCents: 899, Format: paperback(432, 310),
			Translations: map[string]string{"de": "Stolz und Vorurteil", "fr": "Orgueil et Préjugés"},
		},
		{
			Title: "Moby-Dick", Subtitle: new("or, The Whale"), Authors: by("Herman Melville", 1819, 1891), Year: 1851, Genre: "adventure", Stock: 4,
			Tags: []string{"sea", "whaling"}, PriceCents: 1250, Format: paperback(720, 540),
			Translations: map[string]string{"es": "Moby Dick"},
		},
		{
			Title: "Frankenstein", Subtitle: new("or, The Modern Prometheus"), Authors: by("Mary Shelley", 1797, 1851), Year: 1818, Genre: "gothic", Stock: 7,
			Tags: []string{"monster", "science"}, PriceCents: 799, Format: ebook("epub", 612_352),
		},
		{
			Title: "The Adventures of Sherlock Holmes", Authors: by("Arthur Conan Doyle", 1859, 1930), Year: 1892, Genre: "mystery", Stock: 15,
			Tags: []string{"detective", "england", "london", "stories"}, PriceCents: 999, Format: paperback(307, 260),
			Translations: map[string]string{"de": "Die Abenteuer des Sherlock Holmes"},
		},
		{
			Title: "Alice’s Adventures in Wonderland", Authors: by("Lewis Carroll", 1832, 1898), Year: 1865, Genre: "fantasy", Stock: 21,
			Tags: []string{"children", "dream", "england"}, PriceCents: 650, Format: paperback(176, 150),
			Translations: map[string]string{"it": "Le avventure di Alice nel Paese delle Meraviglie", "ja": "不思議の国のアリス"},
		},
		{
			Title: "Twenty Thousand Leagues Under the Seas", Authors: by("Jules Verne", 1828, 1905), Year: 1870, Genre: "science-fiction", Stock: 3,
			Tags: []string{"sea", "submarine", "voyage"}, PriceCents: 1100, Format: ebook("epub", 1_204_224),
			Translations: map[string]string{"fr": "Vingt Mille Lieues sous les mers"},
		},
		{
			Title: "Crime and Punishment", Authors: by("Fyodor Dostoevsky", 1821, 1881), Year: 1866, Genre: "literary", Stock: 12,
			Tags: []string{"guilt", "russia"}, PriceCents: 1399, Format: paperback(671, 480),
			Translations: map[string]string{"ru": "Преступление и наказание"},
		},
	}
}

func moreBooks() []book {
	return []book{
		{
			Title: "Dracula", Authors: by("Bram Stoker", 1847, 1912), Year: 1897, Genre: "gothic", Stock: 6,
			Tags: []string{"letters", "monster", "transylvania"}, PriceCents: 899, Format: paperback(418, 330),
		},
		{
			Title: "The Time Machine", Authors: by("H. G. Wells", 1866, 1946), Year: 1895, Genre: "science-fiction", Stock: 0,
			Tags: []string{"future", "science"}, PriceCents: 550, Format: ebook("pdf", 402_118),
		},
		{
			Title: "Jane Eyre", Subtitle: new("An Autobiography"), Authors: by("Charlotte Brontë", 1816, 1855), Year: 1847, Genre: "romance", Stock: 8,
			Tags: []string{"england", "governess"}, PriceCents: 950, Format: paperback(532, 400),
		},
		{
			Title: "The Federalist", Subtitle: new("A Commentary on the Constitution of the United States"), Year: 1788, Genre: "nonfiction", Stock: 2,
			Authors: []author{ // the year of Hamilton's birth is disputed
				{Name: "Alexander Hamilton", Died: new(1804)},
				{Name: "James Madison", Born: new(1751), Died: new(1836)},
				{Name: "John Jay", Born: new(1745), Died: new(1829)},
			},
			Tags: []string{"essays", "politics"}, PriceCents: 1675, Format: paperback(688, 510),
		},
		{
			Title: "Walden", Subtitle: new("or, Life in the Woods"), Authors: by("Henry David Thoreau", 1817, 1862), Year: 1854, Genre: "nonfiction", Stock: 5,
			Tags: []string{"essays", "nature"}, PriceCents: 725, Format: paperback(352, 280),
		},
		{
			Title: "Three Men in a Boat", Subtitle: new("To Say Nothing of the Dog"), Authors: by("Jerome K. Jerome", 1859, 1927), Year: 1889, Genre: "humour", Stock: 11,
			Tags: []string{"england", "thames", "voyage"}, PriceCents: 699, Format: ebook("epub", 498_210),
			Translations: map[string]string{"de": "Drei Mann in einem Boot"},
		},
	}
}

// number gives the book at a place of the list its id, ISBN, barcode and date.
// The barcode has eighteen digits, the ISBN and a price code, as on real
// covers: more than a 64-bit float can hold.
func (b *book) number(i int) {
	digits := fmt.Sprintf("100%07d", 10_011*(i+1))
	b.ID = bookID(firstNumber + i)
	b.ISBN = "978-" + digits
	b.Barcode, _ = strconv.ParseInt("978"+digits+fmt.Sprintf("%05d", 101+2*i), 10, 64) // eighteen digits always fit
	b.CreatedAt = time.Date(2024, time.March, 1+i, 9, 30, 0, 0, time.UTC)
	b.normalize()
}

func bookID(n int) string { return fmt.Sprintf("b%04d", n) }

// normalize makes empty lists and maps show as such and not as null.
func (b *book) normalize() {
	if b.Tags == nil {
		b.Tags = []string{}
	}
	if b.Translations == nil {
		b.Translations = map[string]string{}
	}
}

func by(name string, born, died int) []author {
	return []author{{Name: name, Born: &born, Died: &died}}
}

func paperback(pages, grams int) format {
	return format{Kind: "paperback", Pages: pages, WeightG: grams}
}

func ebook(file string, size int64) format {
	return format{Kind: "ebook", FileFormat: file, SizeBytes: size}
}
