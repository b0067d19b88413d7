import { useEffect, useRef } from 'preact/hooks'
import { ask, type Output } from './api.ts'
import { DiffLines, fieldDifferences } from './differences.tsx'
import { ChoiceField } from './fields.tsx'
import { asJson, shortPath, timeOfDay } from './format.ts'
import { useLive } from './loaded.ts'
import { type LogRow, logRows } from './requests.ts'
import { Button, Note, Problem, Skeleton } from './ui.tsx'

type Trace = Output<'GET /explain/{request_id}'>

/** The other requests of the log, newest first; those of the same operation come before the others. */
export function comparable(id: string): readonly LogRow[] {
  const { entries } = logRows.value
  const own = entries.find((row) => row.id === id)?.operation
  const rank = ({ operation }: LogRow) => Number(operation !== own)
  return entries.filter((row) => row.id !== id).sort((a, b) => rank(a) - rank(b))
}

function requestIn({ request: { method, path, query, headers, body, body_kept } }: Trace): object {
  return { method, path, query, headers, body: body_kept ? body : 'none, or not kept' }
}

function responseIn({ response }: Trace): object {
  if (response === null) return { status: 'no response' }
  const { status, headers, body } = response
  return {
    status,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])),
    body: body === null ? 'none, or not kept' : (asJson(body) ?? body),
  }
}

/** Maximum number of lines in one part; more are only counted. */
const MAX_LINES = 300

/** The differences between two requests and between their responses. */
export function RequestCompare(props: {
  id: string
  other: string
  onChoose: (id: string) => void
  onClose: () => void
}) {
  const { id, other, onChoose, onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const explain = (request_id: string) => ask('GET /explain/{request_id}', { params: { request_id } })
  const load = () => Promise.all([explain(id), explain(other)])
  const { data, error, reload } = useLive(load, [], `${id} ${other}`)
  const choices = comparable(id).map(
    (row) =>
      [
        row.id,
        `${row.id} · ${timeOfDay(row.at)} · ${row.method} ${shortPath(row.path)} ${row.status}`,
      ] as const,
  )
  const parts = (data === undefined ? [] : [requestIn, responseIn]).map((partOf) => {
    const [own, others] = (data as [Trace, Trace]).map(partOf) as [object, object]
    return { name: partOf === requestIn ? 'Request' : 'Response', lines: fieldDifferences(own, others) }
  })
  return (
    <dialog ref={dialog} class="dialog wide" aria-label="Compare requests" onClose={onClose}>
      <h2>Compare requests</h2>
      <div class="compare-choice">
        <p>
          − is <code>{id}</code>, + is the other request. Equal parts are left out.
        </p>
        <ChoiceField label="With" value={other} choices={choices} onChoose={onChoose} />
      </div>
      {error !== undefined && <Problem text={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Skeleton />}
      {data !== undefined && (
        <section class="diff" tabIndex={0} aria-label="Differences">
          {parts.map(({ name, lines }) => (
            <section key={name}>
              <h3>{lines.length === 0 ? `${name}: no difference` : name}</h3>
              <DiffLines lines={lines.slice(0, MAX_LINES)} />
              {lines.length > MAX_LINES && <Note>{`${lines.length - MAX_LINES} more lines differ.`}</Note>}
            </section>
          ))}
        </section>
      )}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </dialog>
  )
}
