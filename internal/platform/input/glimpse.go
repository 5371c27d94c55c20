package input

// Glimpse is a page of a list, with its total where that could be had at once.
type Glimpse[T any] struct {
	List    []T
	Total   int64
	Counted bool // Total is known
	More    bool // another page follows
}

// Counted is a page whose total is known.
func Counted[T any](list []T, total int64, page Page) Glimpse[T] {
	return Glimpse[T]{List: list, Total: total, Counted: true, More: page.Number < page.Last(total)}
}

// Uncounted is the page of a list of which one record more than the page has was
// asked for. A page that no other follows says how many there are.
func Uncounted[T any](list []T, page Page) Glimpse[T] {
	if int64(len(list)) > page.Size {
		return Glimpse[T]{List: list[:page.Size], More: true}
	}
	return Counted(list, page.Offset()+int64(len(list)), page)
}

// Early is how a page of a list is read that may be had before its total.
type Early[T any] struct {
	// Near reads the page and one record more; ok is false where that is not the way.
	Near  func() (list []T, ok bool, err error)
	Whole func() ([]T, int64, error)               // the page by way of its total
	Known func() (total int64, ok bool, err error) // the total, if somebody has counted it
	Count func() (int64, error)
}

// Glimpse is the page, with its total where that can be had at once.
func (e Early[T]) Glimpse(page Page) (Glimpse[T], error) {
	list, ok, err := e.Near()
	if err != nil {
		return Glimpse[T]{}, err
	}
	if !ok {
		list, total, err := e.Whole()
		return Counted(list, total, page), err
	}
	glimpse := Uncounted(list, page)
	if glimpse.Counted {
		return glimpse, nil
	}
	total, known, err := e.Known()
	if known {
		glimpse = Counted(glimpse.List, total, page)
	}
	return glimpse, err
}

// Page is the page with its total, however long that takes.
func (e Early[T]) Page(page Page) ([]T, int64, error) {
	list, ok, err := e.Near()
	if err != nil {
		return nil, 0, err
	}
	if !ok {
		return e.Whole()
	}
	glimpse := Uncounted(list, page)
	if glimpse.Counted {
		return glimpse.List, glimpse.Total, nil
	}
	total, err := e.Count()
	return glimpse.List, total, err
}
