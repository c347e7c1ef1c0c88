package bookshop

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"net/http"
)

const (
	coverWidth  = 120
	coverHeight = 180
)

func (s *Shop) getCover(w http.ResponseWriter, r *http.Request) *problem {
	b, p := s.wanted(r)
	if p != nil {
		return p
	}
	var out bytes.Buffer
	if err := png.Encode(&out, cover(b.ID)); err != nil {
		return newProblem(http.StatusInternalServerError, "The cover cannot be drawn.")
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(out.Bytes()) // a client that left needs no cover
	return nil
}

// cover draws cloth in a colour of the book's own, a frame, and bars in the
// place of a title.
func cover(id string) image.Image {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash never fails
	sum := h.Sum(nil)
	cloth := color.RGBA{R: 40 + sum[0]&0x7f, G: 40 + sum[1]&0x7f, B: 40 + sum[2]&0x7f, A: 255}
	shade := color.RGBA{R: cloth.R - 20, G: cloth.G - 20, B: cloth.B - 20, A: 255}
	gold := color.RGBA{R: 222, G: 190, B: 104, A: 255}
	img := image.NewPaletted(image.Rect(0, 0, coverWidth, coverHeight), color.Palette{cloth, shade, gold})
	bars := 2 + int(sum[3])%4
	for y := range coverHeight {
		for x := range coverWidth {
			switch {
			case onFrame(x, y) || onBar(x, y, bars):
				img.SetColorIndex(x, y, 2)
			case (x+y)%4 == 0:
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	return img
}

func onFrame(x, y int) bool {
	edge := min(x, y, coverWidth-1-x, coverHeight-1-y)
	return edge == 8 || edge == 9
}

func onBar(x, y, bars int) bool {
	row := (y - 40) / 14
	return y >= 40 && row < bars && (y-40)%14 < 5 && x >= 24+4*row && x < coverWidth-24-4*row
}
