package phone

import "strings"

// areaCodes are the 67 of Brazil, by state: Anatel's Plano Geral de Códigos Nacionais.
var areaCodes = set(
	"11 12 13 14 15 16 17 18 19", // SP
	"21 22 24 27 28",             // RJ, ES
	"31 32 33 34 35 37 38",       // MG
	"41 42 43 44 45 46 47 48 49", // PR, SC
	"51 53 54 55",                // RS
	"61 62 63 64 65 66 67 68 69", // DF, GO, TO, MT, MS, AC, RO
	"71 73 74 75 77 79",          // BA, SE
	"81 82 83 84 85 86 87 88 89", // PE, AL, PB, RN, CE, PI
	"91 92 93 94 95 96 97 98 99", // PA, AM, RR, AP, MA
)

// countryCodes are those that the ITU has assigned (E.164), satellites and international services included, without
// Brazil's. No code is the beginning of another, so one to three digits decide.
var countryCodes = set(
	"1 7",
	"20 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239",
	"240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269",
	"27 290 291 297 298 299",
	"30 31 32 33 34 350 351 352 353 354 355 356 357 358 359 36 370 371 372 373 374 375 376 377 378 379",
	"380 381 382 383 385 386 387 389 39",
	"40 41 420 421 423 43 44 45 46 47 48 49",
	"500 501 502 503 504 505 506 507 508 509 51 52 53 54 56 57 58 590 591 592 593 594 595 596 597 598 599",
	"60 61 62 63 64 65 66 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692",
	"800 808 81 82 84 850 852 853 855 856 86 870 878 880 881 882 883 886 888",
	"90 91 92 93 94 95 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 98 992 993 994 995 996 998",
)

func hasCountry(digits string) bool {
	for length := 1; length <= 3 && length <= len(digits); length++ {
		if countryCodes[digits[:length]] {
			return true
		}
	}
	return false
}

func set(lines ...string) map[string]bool {
	codes := map[string]bool{}
	for _, line := range lines {
		for code := range strings.FieldsSeq(line) {
			codes[code] = true
		}
	}
	return codes
}
