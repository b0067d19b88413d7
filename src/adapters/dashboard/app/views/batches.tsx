import { baseUrl } from '../api.ts'
import { type BatchRow, batchName, isUnfinished, stateOf, useBatches } from '../batch-data.ts'
import { BatchDetail, ItemBar } from '../batch-detail.tsx'
import { Code } from '../code.tsx'
import type { Column } from '../columns.ts'
import { countOf, shortId, timeOfDay } from '../format.ts'
import { here, open } from '../place.ts'
import { filterText, NoMatch, QueryFilter } from '../query-filter.tsx'
import { DEMO_KEYS, snippet } from '../snippets.ts'
import { Panel } from '../splitter.tsx'
import { StateTag } from '../status.tsx'
import { Table } from '../table.tsx'
import { CopyButton, Empty, Missing, Problem, Skeleton, ViewHead } from '../ui.tsx'

const COLUMNS: readonly Column<BatchRow>[] = [
  {
    name: 'name',
    label: 'Batch',
    cell: (batch) => (
      <span title={batch.id}>
        {batchName(batch)}{' '}
        {batchName(batch) !== shortId(batch.id) && <span class="hint">{shortId(batch.id)}</span>}
      </span>
    ),
  },
  { name: 'status', label: 'Status', width: 120, cell: (batch) => <StateTag state={stateOf(batch)} /> },
  { name: 'bar', label: 'Progress', width: 80, cell: (batch) => <ItemBar batch={batch} small /> },
  {
    name: 'items',
    label: 'Items',
    width: 84,
    align: 'right',
    cell: ({ finished, request_counts }) => `${finished}/${request_counts.total}`,
  },
]

export default function Batches() {
  const { data, error, reload } = useBatches()
  const { path } = here.value
  const unfinished = data?.filter(isUnfinished).length ?? 0
  if (data === undefined)
    return error === undefined ? <Skeleton /> : <Problem text={error} onRetry={reload} />
  const text = filterText().toLowerCase()
  const rows = data.filter((batch) =>
    `${batchName(batch)} ${batch.id} ${stateOf(batch)}`.toLowerCase().includes(text),
  )
  const opened = data.find(({ id }) => id === path[0])
  return (
    <>
      <ViewHead title="Batches" summary={`${data.length} · ${unfinished} unfinished`}>
        <QueryFilter label="Filter batches" />
      </ViewHead>
      {error !== undefined && <Problem text={error} onRetry={reload} />}
      <div class="split">
        {data.length === 0 ? (
          <NoBatches />
        ) : rows.length === 0 ? (
          <NoMatch title="No batch matches the filter" hidden={countOf(data.length, 'batch', 'batches')} />
        ) : (
          <Table
            label="Batches, unfinished first"
            rows={rows}
            columns={COLUMNS}
            idOf={({ id }) => id}
            selected={path[0]}
            onOpen={(id) => open([id])}
            phone={(batch) => <PhoneRow batch={batch} />}
          />
        )}
        {path[0] !== undefined && (
          <Panel name="batch" width={648}>
            {opened === undefined ? (
              <Missing text={`There is no batch ${path[0]} in this sandbox.`} onClose={() => open([])} />
            ) : (
              <BatchDetail key={opened.id} batch={opened} onClose={() => open([])} />
            )}
          </Panel>
        )}
      </div>
    </>
  )
}

function PhoneRow({ batch }: { batch: BatchRow }) {
  return (
    <span class="two-lines">
      <span>{batchName(batch)}</span>
      <span class="hint">
        {batch.finished}/{batch.request_counts.total} items · {timeOfDay(batch.created_at)}
      </span>
      <StateTag state={stateOf(batch)} />
    </span>
  )
}

function NoBatches() {
  const body = {
    prompt: 'Read the total.',
    output_schema: { type: 'object' },
    model: 'any-model',
    items: [{ file_id: 'file-invoice-1', custom_id: 'first' }],
  }
  const curl = snippet('curl', {
    method: 'POST',
    url: `${baseUrl()}/batch-predictions`,
    headers: { 'Content-Type': 'application/json' },
    body,
    key: DEMO_KEYS[0].token,
  })
  return (
    <Empty
      icon="batches"
      title="No batches yet"
      text="Create one through the API. It appears here at once, and progresses when time passes."
    >
      <Code text={curl} />
      <CopyButton kind="primary" text={() => curl}>
        Copy curl
      </CopyButton>
    </Empty>
  )
}
