import { useState } from 'preact/hooks'
import { ask, type Output } from './api.ts'
import { type BatchRow, batchName, endOf, isUnfinished, stateOf } from './batch-data.ts'
import { download } from './browser.ts'
import { Chain } from './chain.tsx'
import { advanceToEnd } from './clock-bar.tsx'
import type { Column } from './columns.ts'
import { durationText, pretty, shortTime } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { JsonDialog } from './json-editor.tsx'
import { act, isLost, ticking } from './live.ts'
import { useLive } from './loaded.tsx'
import { StateTag } from './status.tsx'
import { Table, texts } from './table.tsx'
import { Button, Card, CopyButton, Detail, FilterField } from './ui.tsx'

type View = Output<'GET /batches/{id}'>
type Result = Output<'GET /batches/{id}/results'>['data'][number]

/** The items of a batch as a bar: the succeeded, errored, expired and cancelled ones. */
export function ItemBar({ batch, small }: { batch: BatchRow; small?: boolean }) {
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

type Action = 'fail' | 'expire' | 'complete' | 'cleanup'

export function BatchDetail({ batch }: { batch: BatchRow }) {
  const { id } = batch
  const about = `${id} ${batch.status} ${batch.finished} ${batch.held}`
  const { data, notice, reload } = useLive(() => ask('GET /batches/{id}', { params: { id } }), [], id)
  const isOpen = isUnfinished(batch)
  const lost = isLost.value ? 'The emulator is not connected.' : undefined
  const done = isOpen ? undefined : `The batch is ${batch.status}.`
  const intervene = (action: Action) => () =>
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
  const failable =
    batch.status === 'validating' || batch.status === 'in_progress'
      ? lost
      : (done ?? `Not possible: the batch is ${batch.status}.`)
  return (
    <Detail label={`Batch ${batchName(batch)}`} title={batchName(batch)} head={head}>
      <p class="row-actions">
        <Button
          text={batch.held ? 'Release' : 'Hold'}
          icon={batch.held ? 'play' : 'pause'}
          disabled={lost ?? done}
          onClick={hold}
        />
        <Button
          text="Advance to done"
          kind="primary"
          disabled={lost ?? done}
          onClick={() => advanceToEnd(batch)}
        />
        <span class="push wide-only" />
        <Button text="Complete" disabled={lost ?? done} onClick={intervene('complete')} />
        <Button text="Fail" disabled={failable} onClick={intervene('fail')} />
        <Button text="Expire" disabled={failable} onClick={intervene('expire')} />
        <Button text="Clean up" disabled={lost ?? cleaned} onClick={intervene('cleanup')} />
      </p>
      <Phases batch={batch} />
      <ItemBar batch={batch} />
      <Counts batch={batch} />
      <Chain current={id} about={`batch_predictions/${id}`} />
      {notice}
      {data !== undefined && (
        <Outcomes key={about} view={data} canEdit={isOpen && lost === undefined} onDone={reload} />
      )}
      <Results batch={batch} about={about} />
    </Detail>
  )
}

function Phases({ batch }: { batch: BatchRow }) {
  const now = ticking.value ?? 0
  const { predicted } = batch
  const end = endOf(batch)
  const last = end === undefined ? predicted.completed_at : new Date(end).toISOString()
  const phases: readonly (readonly [string, string | null, string | null])[] = [
    ['Validating', batch.created_at, null],
    ['In progress', batch.in_progress_at, predicted.in_progress_at],
    ['Finalizing', batch.finalizing_at, predicted.finalizing_at],
    [
      end === undefined || batch.status === 'completed' ? 'Completed' : batch.status,
      end === undefined ? null : last,
      last,
    ],
  ]
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
  const { total: _, ...counts } = batch.request_counts
  const now = ticking.value ?? 0
  return (
    <p class="row-actions">
      {Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([name, count]) => (
          <StateTag key={name} state={name}>{`${count} ${name}`}</StateTag>
        ))}
      {isUnfinished(batch) && (
        <span class="push hint wide-only">
          Deadline in {durationText(Date.parse(batch.expires_at) - now)}
        </span>
      )}
    </p>
  )
}

type Rule = View['plan']['stages'][number]['outcomes'][number]

/** The items that a rule selects, in words. */
function itemsOf({ match: { custom_id, index } = {}, every, probability }: Rule): string {
  const one = index === undefined ? undefined : `the item at index ${index}`
  const some = custom_id === undefined ? 'all items' : `items whose custom_id is ${custom_id}`
  const which =
    one === undefined || custom_id === undefined ? (one ?? some) : `${one}, if its custom_id is ${custom_id}`
  const share = [
    ...(every === undefined || every === 1 ? [] : [`1 in ${every} of `]),
    ...(probability === undefined ? [] : [`about ${Math.round(probability * 1_000) / 10} % of `]),
  ]
  return share.join('') + which
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

function Results({ batch, about }: { batch: BatchRow; about: string }) {
  const { id } = batch
  const { data, notice } = useLive(() => allResults(id), [], about)
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
    <Card title="Results" hint={`${batch.finished} of ${batch.request_counts.total}`} actions={actions}>
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
