import { countOf } from './format.ts'
import { here, refine } from './place.ts'
import { Button, Empty, FilterField } from './ui.tsx'

/** The filter of a view, which is part of its address. */
export const filterText = (): string => here.value.query.filter ?? ''

/** The items in whose text the filter of the view occurs. */
export function filtered<T>(items: readonly T[], textOf: (item: T) => string): readonly T[] {
  const text = filterText().toLowerCase()
  return items.filter((item) => textOf(item).toLowerCase().includes(text))
}

export function QueryFilter(props: { label: string; placeholder?: string; isWide?: boolean }) {
  return <FilterField {...props} value={filterText()} onInput={(filter) => refine({ filter })} />
}

/** Shown instead of the rows of a list that its filter hides. */
export function NoMatch(props: {
  /** The number of rows without the filter, and what they are. */
  count: number
  noun: string
  nouns?: string
}) {
  const { count, noun, nouns } = props
  const filter = [filterText(), here.value.query.show].filter(Boolean).join(', ')
  return (
    <Empty
      icon="search"
      title={`No ${noun} matches the filter`}
      text={`The filter "${filter}" hides ${countOf(count, noun, nouns)}.`}
    >
      <Button text="Clear filter" onClick={() => refine({ filter: '', show: '' })} />
    </Empty>
  )
}
