import { here, refine } from './place.ts'
import { Button, Empty, FilterField } from './ui.tsx'

/** The filter of a view, which is part of its address. */
export const filterText = (): string => here.value.query.filter ?? ''

export function QueryFilter({ label }: { label: string }) {
  return <FilterField label={label} value={filterText()} onInput={(filter) => refine({ filter })} />
}

/** Shown instead of the rows of a list that its filter hides. */
export function NoMatch(props: { title: string; hidden: string; filter?: string; onClear?: () => void }) {
  const { title, hidden, filter = filterText(), onClear = () => refine({ filter: '' }) } = props
  return (
    <Empty icon="search" title={title} text={`The filter "${filter}" hides ${hidden}.`}>
      <Button onClick={onClear}>Clear filter</Button>
    </Empty>
  )
}
