package exercise

import "fmt"

// The chats of notebook 08, in tokens, and what an allocator without pages would reserve for each.
var chatTokens = []int{361, 437, 428, 67}

const (
	reservedTokens = 1024
	pageTokens     = 16
)

// pagesOf is how many pages n tokens take.
func pagesOf(n, page int) int { return (n + page - 1) / page }

// prefixPages are the pages of three sequences of 13, 17 and 10 tokens with the same first ten, in pages of four: shared are
// the full pages of what they have in common.
func prefixPages(shared int) int {
	pages := shared
	for _, n := range []int{13, 17, 10} {
		pages += pagesOf(n, 4) - shared
	}
	return pages
}

// paging are the exercises of notebook 08.
var paging = []exercise{
	{
		id: "08.1", unit: "", within: 0.02,
		question: "Four chats have 361, 437, 428 and 67 tokens, and 1,024 are reserved for each. What share of the reserved room is empty, in percent?",
		answer:   func() float64 { return 100 * (1 - float64(total(chatTokens))/float64(len(chatTokens)*reservedTokens)) },
		formula: func() string {
			return fmt.Sprintf("%d of %d slots hold a token; the other %.1f %% are empty.", total(chatTokens), len(chatTokens)*reservedTokens,
				100*(1-float64(total(chatTokens))/float64(len(chatTokens)*reservedTokens)))
		},
		start: "How many slots are reserved in all, and how many hold a token?",
		mistakes: []mistake{
			{func() float64 { return 100 * float64(total(chatTokens)) / float64(len(chatTokens)*reservedTokens) }, "That is the share that is used. The question is for the rest."},
			{func() float64 { return 1 - float64(total(chatTokens))/float64(len(chatTokens)*reservedTokens) }, "Right as a fraction; in percent it is a hundred times that."},
		},
	},
	{
		id: "08.2", unit: "tokens", within: 0.001,
		question: "A chat of 361 tokens lies in pages of 16. For how many tokens is there room that it does not use?",
		answer:   func() float64 { return float64(pagesOf(chatTokens[0], pageTokens)*pageTokens - chatTokens[0]) },
		formula: func() string {
			return "361 ÷ 16 = 22.6: 23 pages, 368 slots, 7 of them empty. On average it is half a page."
		},
		start: "How many pages does it need, and how many tokens fit into those?",
		mistakes: []mistake{
			{func() float64 { return float64(chatTokens[0] % pageTokens) }, "Those are the tokens in the last page. How many more would fit into it?"},
			{func() float64 { return float64(pagesOf(chatTokens[0], pageTokens)) }, "That is its number of pages."},
			{func() float64 { return float64(reservedTokens - chatTokens[0]) }, "That is the reserved way. With pages it has only those that it has begun."},
		},
	},
	{
		id: "08.3", unit: "", within: 0.001,
		question: "Pages of 4 tokens. Three sequences have 13, 17 and 10 tokens; the first ten are the same in all. How many pages do they take together?",
		answer:   func() float64 { return float64(prefixPages(10 / 4)) },
		formula: func() string {
			return "4, 5 and 3 pages by themselves. Of the ten common tokens two pages are full, and shared: 2 + 2 + 3 + 1 = 8. The third page of each holds different tokens, or could: it is its own."
		},
		start: "Write down each sequence's pages. Which of them hold the same tokens in all three, and are full?",
		mistakes: []mistake{
			{func() float64 { return float64(prefixPages(0)) }, "Those are all pages, without sharing. Which full pages are the same in all three?"},
			{func() float64 { return float64(prefixPages(3)) }, "Tokens 9 and 10 lie in a page that is not full: there each sequence goes on with its own tokens, so it cannot be shared."},
			{func() float64 { return float64(pagesOf(40, 4)) }, "Forty tokens in one row would take that. Each sequence begins a page of its own, and some are shared."},
		},
	},
	{
		id: "08.4", unit: "", within: 0.001,
		question: "A chat of 361 tokens is forked three times, so that four answers go on from it, and each writes one token. How many pages are copied?",
		answer:   func() float64 { return 3 },
		formula: func() string {
			return "The last page, with 9 of 16 tokens, belongs to all four. The first three to write get a copy each; then the fourth has it alone and writes in place. 22 full pages are never copied."
		},
		start: "Which page is written, how many sequences have it, and what does the last of them find?",
		mistakes: []mistake{
			{func() float64 { return 4 }, "When the first three have their copies, who still has the page?"},
			{func() float64 { return 3 * float64(pagesOf(361, pageTokens)) }, "Only a page that is written is copied. Full pages are only read."},
			{func() float64 { return 4 * float64(pagesOf(361, pageTokens)) }, "Only a page that is written is copied. Full pages are only read."},
			{func() float64 { return 1 }, "One page is written by four sequences: each needs its own."},
		},
	},
}
