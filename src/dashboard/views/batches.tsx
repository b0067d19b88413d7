import { computed } from '@preact/signals'
import { useState } from 'preact/hooks'
import { ask, baseUrl, type Output } from '../api.ts'
import { type BatchRow, batchName, endOf, isUnfinished, stateOf, useBatches } from '../batch-data.ts'
import { download } from '../browser.ts'
import { Chain } from '../chain.tsx'
import { advanceToEnd } from '../clock-bar.tsx'
import type { Column } from '../columns.ts'
import { dateTime, durationText, pretty, shortId, shortTime, timeOfDay } from '../format.ts'
import { Icon, type IconName } from '../icon.tsx'
import { JsonDialog } from '../json-editor.tsx'
import { List } from '../list.tsx'
import { act, isLost, ticking } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { here } from '../place.ts'
import { QueryFilter } from '../query-filter.tsx'
import { logRows } from '../requests.ts'
import { DEMO_KEYS, snippet } from '../snippets.ts'
import { StateTag } from '../status.tsx'
import { Table, texts } from '../table.tsx'
import { Button, Card, CopyButton, Detail, Empty, FilterField, ViewHead } from '../ui.tsx'

/** The Idempotency-Key of the request that created each batch, as far as the log has it. */
const creationKeys = computed(() => {
  const created = logRows.value.entries.filter(({ operation }) => operation === 'batch-predictions.create')
  return new Map(created.flatMap(({ changed, idempotency_key: key }) => changed.map((ref) => [ref, key])))
})

const keyOf = ({ id }: BatchRow) => creationKeys.value.get(`batch_predictions/${id}`) ?? '–'

/** The state of a batch in lists: `partial` for one that is completed although items have failed. */
function outcomeOf(batch: BatchRow): string {
  const { errored, expired } = batch.request_counts
  return batch.status === 'completed' && errored + expired > 0 ? 'partial' : stateOf(batch)
}

/** The items of a batch by the name of their result, in words: `4 succeeded`; none before there are any results. */
function countsInWords({ request_counts: { total: _, ...counts } }: BatchRow) {
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  return new Map(some.map(([name, count]) => [name, `${count} ${name}`]))
}

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
      <span title={[...countsInWords(batch).values()].join(', ')}>
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

type View = Output<'GET /batches/{id}'>
type Result = Output<'GET /batches/{id}/results'>['data'][number]

/** The items of a batch as a bar: the succeeded, errored, expired and cancelled ones. */
function ItemBar({ batch, small }: { batch: BatchRow; small?: boolean }) {
  const { total, errored, canceled, expired } = batch.request_counts
  const width = (count: number) => ({ width: `${(100 * count) / Math.max(1, total)}%` })
  return (
    <span class={small === true ? 'items small' : 'items'} aria-hidden="true">
      <span class="ok" style={width(Math.max(0, batch.finished - errored))} />
      <span class="error" style={width(errored)} />
      <span class="warn" style={width(expired)} />
      <span class="neutral" style={width(canceled)} />
    </span>
  )
}

const RESULTS: readonly Column<Result>[] = [
  texts('custom_id', ({ custom_id }) => custom_id, { width: 136 }),
  {
    label: 'Status',
    width: 152,
    cell: ({ status, finished }) => (
      <StateTag state={finished ? status : 'scheduled'}>{finished ? status : `planned ${status}`}</StateTag>
    ),
  },
  texts('Output or error', said),
]

function said({ output, error }: Result): string {
  if (error === null) return JSON.stringify(output)
  const { title = 'Error', detail = '' } = error as { title?: string; detail?: string }
  return `${title}: ${detail}`
}

function BatchDetail({ batch }: { batch: BatchRow }) {
  const { id } = batch
  const { data, notice, reload } = useLive(() => ask('GET /batches/{id}', { params: { id } }), [])
  const isOpen = isUnfinished(batch)
  const lost = isLost.value ? 'The emulator is not connected.' : undefined
  const off = lost ?? (isOpen ? undefined : `The batch is ${batch.status}.`)
  const intervene = (action: 'fail' | 'expire' | 'complete' | 'cleanup') => () =>
    void act(() => ask(`POST /batches/{id}/${action}`, { params: { id } }))
  const hold = () =>
    void act(() => ask('PATCH /batches/{id}', { params: { id }, body: { hold: !batch.held } }))
  const head = (
    <>
      <StateTag state={stateOf(batch)} />
      <code class="hint wide-only">{id}</code>
      <CopyButton text={() => id} />
    </>
  )
  const removed = batch.results_url === null ? 'The results are removed.' : undefined
  const cleaned = isOpen ? 'The batch has no results yet.' : removed
  const canFail = !isOpen || batch.status === 'validating' || batch.status === 'in_progress'
  const failing = canFail ? off : `Not possible: the batch is ${batch.status}.`
  return (
    <Detail label={`Batch ${batchName(batch)}`} title={batchName(batch)} head={head}>
      <p class="row-actions">
        <Button
          text={batch.held ? 'Release' : 'Hold'}
          icon={batch.held ? 'play' : 'pause'}
          disabled={off}
          onClick={hold}
        />
        <Button text="Advance to done" kind="primary" disabled={off} onClick={() => advanceToEnd(batch)} />
        <span class="push wide-only" />
        <Button text="Complete" disabled={off} onClick={intervene('complete')} />
        <Button text="Fail" disabled={failing} onClick={intervene('fail')} />
        <Button text="Expire" disabled={failing} onClick={intervene('expire')} />
        <Button text="Clean up" disabled={lost ?? cleaned} onClick={intervene('cleanup')} />
      </p>
      <Phases batch={batch} />
      <ItemBar batch={batch} />
      <Counts batch={batch} />
      <Chain current={id} about={`batch_predictions/${id}`} />
      {notice}
      {data !== undefined && <Outcomes view={data} canEdit={off === undefined} onDone={reload} />}
      <Results batch={batch} />
    </Detail>
  )
}

function Phases({ batch }: { batch: BatchRow }) {
  const now = ticking.value ?? 0
  const { predicted } = batch
  const end = endOf(batch)
  const phases = [
    ['Validating', batch.created_at, null],
    ['In progress', batch.in_progress_at, predicted.in_progress_at],
    ['Finalizing', batch.finalizing_at, predicted.finalizing_at],
    [end === null || batch.status === 'completed' ? 'Completed' : batch.status, end, predicted.completed_at],
  ] as const
  const icon = (index: number, at: string | null): IconName => {
    if (at === null) return index === 3 ? 'flag' : 'clock'
    return phases[index + 1]?.[1] == null && isUnfinished(batch) ? 'progress' : 'ok'
  }
  return (
    <ol class="phases">
      {phases.map(([name, at, expected], index) => (
        <li key={name} class={at === null ? '' : 'reached'}>
          <Icon name={icon(index, at)} />
          <strong class="small">{name}</strong>
          <span class="hint">
            {at !== null ? shortTime(at, now) : expected !== null ? `about ${shortTime(expected, now)}` : '–'}
          </span>
        </li>
      ))}
    </ol>
  )
}

function Counts({ batch }: { batch: BatchRow }) {
  const left = Date.parse(batch.expires_at) - (ticking.value ?? 0)
  return (
    <p class="row-actions">
      {[...countsInWords(batch)].map(([name, text]) => (
        <StateTag key={name} state={name}>
          {text}
        </StateTag>
      ))}
      {isUnfinished(batch) && <span class="push hint wide-only">Deadline in {durationText(left)}</span>}
    </p>
  )
}

type Rule = View['plan']['stages'][number]['outcomes'][number]

/** The items that a rule selects, in words. */
function itemsOf({ match: { custom_id, index } = {}, every, probability }: Rule): string {
  const some = custom_id === undefined ? 'all items' : `items whose custom_id is ${custom_id}`
  const one = custom_id === undefined ? '' : `, if its custom_id is ${custom_id}`
  const which = index === undefined ? some : `the item at index ${index}${one}`
  const nth = every === undefined || every === 1 ? '' : `1 in ${every} of `
  const share = probability === undefined ? '' : `about ${Math.round(probability * 1_000) / 10} % of `
  return nth + share + which
}

function Outcomes({ view, canEdit, onDone }: { view: View; canEdit: boolean; onDone: () => void }) {
  const rules = view.plan.stages.at(-1)?.outcomes ?? []
  const [isEditing, setEditing] = useState(false)
  const { id } = view.batch
  const save = async (outcomes: unknown) => {
    await ask('PATCH /batches/{id}', { params: { id }, body: { outcomes: outcomes as never } })
    onDone()
  }
  const edit = canEdit && <Button text="Edit" onClick={() => setEditing(true)} />
  return (
    <Card title="Outcome rules" hint="the first matching rule decides; for unfinished items" actions={edit}>
      <ul class="rows">
        {rules.map((rule, index) => (
          <li key={index}>
            <span>{itemsOf(rule)}</span>
            <StateTag state={rule.status ?? 'succeeded'} />
            <span class="hint">{rule.detail ?? ''}</span>
          </li>
        ))}
        <li>
          <span>all remaining items</span>
          <StateTag state="succeeded" />
          <span class="hint">output from output_schema, seed {view.plan.seed}</span>
        </li>
      </ul>
      {isEditing && (
        <JsonDialog
          title="Outcome rules"
          text="The first matching rule decides about an item. The rules apply to unfinished items."
          value={pretty(rules)}
          at="/outcomes"
          action="Save rules"
          done="The outcome rules are saved."
          onSubmit={save}
          onClose={() => setEditing(false)}
        />
      )}
    </Card>
  )
}

// Loads one page at a time, so that the emulator can respond to other requests in between.
async function allResults(id: string): Promise<readonly Result[]> {
  const rows: Result[] = []
  for (;;) {
    const query = { limit: '1000', offset: String(rows.length) }
    const { data, has_more } = await ask('GET /batches/{id}/results', { params: { id }, query })
    for (const row of data) rows.push(row)
    if (!has_more) return rows
  }
}

function Results({ batch: { id, status, finished, held, request_counts } }: { batch: BatchRow }) {
  const { data, notice } = useLive(() => allResults(id), [], `${status} ${finished} ${held}`)
  const [text, setText] = useState('')
  const rows = (data ?? []).filter((row) =>
    `${row.custom_id} ${row.status} ${said(row)}`.toLowerCase().includes(text.toLowerCase()),
  )
  const save = () =>
    download(`${id}.ndjson`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''), 'application/x-ndjson')
  const actions = (
    <>
      <FilterField label="Filter results" value={text} onInput={setText} />
      <Button text="NDJSON" icon="download" onClick={save} />
    </>
  )
  return (
    <Card title="Results" hint={`${finished} of ${request_counts.total}`} actions={actions}>
      {notice}
      <div class="results">
        <Table
          label="Results in the order of the items"
          rows={rows}
          columns={RESULTS}
          idOf={({ custom_id }) => custom_id}
        />
      </div>
    </Card>
  )
}
