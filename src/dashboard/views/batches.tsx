import { computed } from '@preact/signals'
import { baseUrl } from '../api.ts'
import {
  type BatchRow,
  batchName,
  countsInWords,
  isUnfinished,
  outcomeOf,
  useBatches,
} from '../batch-data.ts'
import { BatchDetail, ItemBar } from '../batch-detail.tsx'
import type { Column } from '../columns.ts'
import { dateTime, shortId, timeOfDay } from '../format.ts'
import { List } from '../list.tsx'
import { here } from '../place.ts'
import { QueryFilter } from '../query-filter.tsx'
import { logRows } from '../requests.ts'
import { DEMO_KEYS, snippet } from '../snippets.ts'
import { StateTag } from '../status.tsx'
import { texts } from '../table.tsx'
import { Empty, ViewHead } from '../ui.tsx'

/** The Idempotency-Key of the request that created each batch, as far as the log has it. */
const creationKeys = computed(() => {
  const created = logRows.value.entries.filter(({ operation }) => operation === 'batch-predictions.create')
  return new Map(created.flatMap(({ changed, idempotency_key: key }) => changed.map((ref) => [ref, key])))
})

const keyOf = ({ id }: BatchRow) => creationKeys.value.get(`batch_predictions/${id}`) ?? '–'

const COLUMNS: readonly Column<BatchRow>[] = [
  {
    label: 'Batch',
    width: 176,
    isCut: true,
    cell: (batch) => (
      <span title={batch.id}>
        {batchName(batch)}{' '}
        {batchName(batch) !== shortId(batch.id) && <span class="hint">{shortId(batch.id)}</span>}
      </span>
    ),
    sortBy: batchName,
  },
  {
    label: 'Status',
    width: 116,
    cell: (batch) => (
      <span title={countsInWords(batch)}>
        <StateTag state={outcomeOf(batch)} />
      </span>
    ),
    sortBy: outcomeOf,
  },
  { label: 'Progress', width: 80, spare: 2, cell: (batch) => <ItemBar batch={batch} small /> },
  {
    label: 'Items',
    width: 72,
    align: 'right',
    cell: ({ finished, request_counts }) => `${finished}/${request_counts.total}`,
    sortBy: ({ request_counts }) => request_counts.total,
  },
  texts('Model', ({ model }) => model, { width: 112, spare: 3 }),
  { label: 'Prompt', spare: 4, cell: ({ prompt }) => <span title={prompt}>{prompt}</span> },
  texts('Created', ({ created_at }) => dateTime(created_at), { width: 168, isCut: false, spare: 1 }),
  texts('Idempotency key', keyOf, { width: 136, spare: 5 }),
]

const textOf = (batch: BatchRow) =>
  `${batchName(batch)} ${batch.id} ${outcomeOf(batch)} ${batch.model} ${batch.prompt} ${keyOf(batch)}`

export default function Batches() {
  const { data, notice } = useBatches()
  if (data === undefined) return notice
  return (
    <>
      <ViewHead title="Batches" summary={`${data.length} · ${data.filter(isUnfinished).length} unfinished`}>
        <QueryFilter label="Filter batches" />
      </ViewHead>
      {notice}
      <div class="split">
        <List
          {...{ label: 'Batches, unfinished first', noun: 'batch', nouns: 'batches', width: 648 }}
          items={data}
          textOf={textOf}
          empty={<NoBatches />}
          columns={COLUMNS}
          idOf={({ id }) => id}
          selected={here.value.path[0]}
          phone={(batch) => [
            batchName(batch),
            `${batch.finished}/${batch.request_counts.total} items · ${timeOfDay(batch.created_at)}`,
            <StateTag state={outcomeOf(batch)} />,
          ]}
        >
          {(batch) => <BatchDetail key={batch.id} batch={batch} />}
        </List>
      </div>
    </>
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
      code={curl}
    />
  )
}
