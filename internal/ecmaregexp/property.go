package ecmaregexp

import (
	"strings"
	"sync"
	"unicode"
)

// property returns the characters of \p{name} or \p{name=value}, nil if Go's
// tables do not have them.
func property(text string) set {
	name, value, pair := strings.Cut(text, "=")
	switch {
	case !pair:
		if s := category(name); s != nil {
			return s
		}
		return binary(name)
	case name == "General_Category" || name == "gc":
		return category(value)
	case name == "Script" || name == "sc":
		return script(value)
	}
	return nil
}

// category returns the values of General_Category. Go's C lacks unassigned code
// points, and RE2's short names are not all in its table.
func category(name string) set {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z}
	switch name {
	case "C":
		return table(assigned...).not()
	case "Cn":
		return table(append(assigned, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)...).not()
	case "LC":
		return table(unicode.Lu, unicode.Ll, unicode.Lt)
	}
	if t, ok := unicode.Categories[name]; ok {
		return table(t)
	}
	return nil
}

// binary returns binary properties in Go's tables: those of pictographs, case
// folding and normalization are not there.
func binary(name string) set {
	if long, ok := binaryAliases[name]; ok {
		name = long
	}
	switch name {
	case "Any":
		return set{0, unicode.MaxRune}
	case "ASCII":
		return set{0, 0x7F}
	case "Assigned":
		return category("Cn").not()
	case "Alphabetic":
		return table(unicode.L, unicode.Nl, unicode.Other_Alphabetic)
	case "Lowercase":
		return table(unicode.Ll, unicode.Other_Lowercase)
	case "Uppercase":
		return table(unicode.Lu, unicode.Other_Uppercase)
	case "Math":
		return table(unicode.Sm, unicode.Other_Math)
	case "ID_Start":
		return table(unicode.L, unicode.Nl, unicode.Other_ID_Start).without(syntaxOfPatterns())
	case "ID_Continue":
		return table(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc,
			unicode.Other_ID_Continue).without(syntaxOfPatterns())
	}
	if strings.HasPrefix(name, "Other_") || strings.HasPrefix(name, "Prepended_") || name == "Hyphen" || name == "STerm" {
		return nil // only Go has these tables
	}
	if t, ok := unicode.Properties[name]; ok {
		return table(t)
	}
	return nil
}

func syntaxOfPatterns() set { return table(unicode.Pattern_Syntax, unicode.Pattern_White_Space) }

var binaryAliases = map[string]string{ //nolint:gochecknoglobals // a table
	"AHex": "ASCII_Hex_Digit", "Alpha": "Alphabetic", "Bidi_C": "Bidi_Control", "Dep": "Deprecated", "Dia": "Diacritic",
	"Ext": "Extender", "Hex": "Hex_Digit", "IDC": "ID_Continue", "IDS": "ID_Start", "IDSB": "IDS_Binary_Operator",
	"IDST": "IDS_Trinary_Operator", "Ideo": "Ideographic", "Join_C": "Join_Control", "LOE": "Logical_Order_Exception",
	"Lower": "Lowercase", "NChar": "Noncharacter_Code_Point", "Pat_Syn": "Pattern_Syntax", "Pat_WS": "Pattern_White_Space",
	"QMark": "Quotation_Mark", "RI": "Regional_Indicator", "SD": "Soft_Dotted", "STerm": "Sentence_Terminal",
	"Term": "Terminal_Punctuation", "UIdeo": "Unified_Ideograph", "Upper": "Uppercase", "VS": "Variation_Selector",
	"space": "White_Space",
}

// script returns the values of Script, by their long names and by those of four
// letters.
func script(name string) set {
	if long, ok := scriptAliases()[name]; ok {
		name = long
	}
	if t, ok := unicode.Scripts[name]; ok {
		return table(t)
	}
	return nil
}

var scriptAliases = sync.OnceValue(func() map[string]string { //nolint:gochecknoglobals // a table
	known := map[string]string{}
	for pair := range strings.FieldsSeq(scriptNames) {
		short, long, _ := strings.Cut(pair, ":")
		known[short] = long
	}
	return known
})

// scriptNames are the names of four letters from Unicode's PropertyValueAliases.
const scriptNames = `
Adlm:Adlam Aghb:Caucasian_Albanian Arab:Arabic Armi:Imperial_Aramaic Armn:Armenian Avst:Avestan Bali:Balinese
Bamu:Bamum Bass:Bassa_Vah Batk:Batak Beng:Bengali Bhks:Bhaiksuki Bopo:Bopomofo Brah:Brahmi Brai:Braille Bugi:Buginese
Buhd:Buhid Cakm:Chakma Cans:Canadian_Aboriginal Cari:Carian Cher:Cherokee Chrs:Chorasmian Copt:Coptic
Cpmn:Cypro_Minoan Cprt:Cypriot Cyrl:Cyrillic Deva:Devanagari Diak:Dives_Akuru Dogr:Dogra Dsrt:Deseret Dupl:Duployan
Egyp:Egyptian_Hieroglyphs Elba:Elbasan Elym:Elymaic Ethi:Ethiopic Geor:Georgian Glag:Glagolitic Gong:Gunjala_Gondi
Gonm:Masaram_Gondi Goth:Gothic Gran:Grantha Grek:Greek Gujr:Gujarati Guru:Gurmukhi Hang:Hangul Hani:Han Hano:Hanunoo
Hatr:Hatran Hebr:Hebrew Hira:Hiragana Hluw:Anatolian_Hieroglyphs Hmng:Pahawh_Hmong Hmnp:Nyiakeng_Puachue_Hmong
Hung:Old_Hungarian Ital:Old_Italic Java:Javanese Kali:Kayah_Li Kana:Katakana Khar:Kharoshthi Khmr:Khmer Khoj:Khojki
Kits:Khitan_Small_Script Knda:Kannada Kthi:Kaithi Lana:Tai_Tham Laoo:Lao Latn:Latin Lepc:Lepcha Limb:Limbu
Lina:Linear_A Linb:Linear_B Lyci:Lycian Lydi:Lydian Mahj:Mahajani Maka:Makasar Mand:Mandaic Mani:Manichaean
Marc:Marchen Medf:Medefaidrin Mend:Mende_Kikakui Merc:Meroitic_Cursive Mero:Meroitic_Hieroglyphs Mlym:Malayalam
Mong:Mongolian Mroo:Mro Mtei:Meetei_Mayek Mult:Multani Mymr:Myanmar Nagm:Nag_Mundari Nand:Nandinagari
Narb:Old_North_Arabian Nbat:Nabataean Nkoo:Nko Nshu:Nushu Ogam:Ogham Olck:Ol_Chiki Orkh:Old_Turkic Orya:Oriya
Osge:Osage Osma:Osmanya Ougr:Old_Uyghur Palm:Palmyrene Pauc:Pau_Cin_Hau Perm:Old_Permic Phag:Phags_Pa
Phli:Inscriptional_Pahlavi Phlp:Psalter_Pahlavi Phnx:Phoenician Plrd:Miao Prti:Inscriptional_Parthian Qaac:Coptic
Qaai:Inherited Rjng:Rejang Rohg:Hanifi_Rohingya Runr:Runic Samr:Samaritan Sarb:Old_South_Arabian Saur:Saurashtra
Sgnw:SignWriting Shaw:Shavian Shrd:Sharada Sidd:Siddham Sind:Khudawadi Sinh:Sinhala Sogd:Sogdian Sogo:Old_Sogdian
Sora:Sora_Sompeng Soyo:Soyombo Sund:Sundanese Sylo:Syloti_Nagri Syrc:Syriac Tagb:Tagbanwa Takr:Takri Tale:Tai_Le
Talu:New_Tai_Lue Taml:Tamil Tang:Tangut Tavt:Tai_Viet Telu:Telugu Tfng:Tifinagh Tglg:Tagalog Thaa:Thaana Tibt:Tibetan
Tirh:Tirhuta Tnsa:Tangsa Ugar:Ugaritic Vaii:Vai Vith:Vithkuqi Wara:Warang_Citi Wcho:Wancho Xpeo:Old_Persian
Xsux:Cuneiform Yezi:Yezidi Yiii:Yi Zanb:Zanabazar_Square Zinh:Inherited Zyyy:Common
`
