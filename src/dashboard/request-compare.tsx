import { ask, type Output } from './api.ts'
import { CompareDialog, fieldDifferences } from './differences.tsx'
import { asJson, shortPath, timeOfDay } from './format.ts'
import { useLive } from './loaded.tsx'
import { linkTo } from './place.ts'
import { type LogRow, logRows } from './requests.ts'

type Trace = Output<'GET /explain/{request_id}'>

/** The other requests of the log, newest first; those of the same operation come before the others. */
export function comparable(id: string): readonly LogRow[] {
  const { entries } = logRows.value
  const own = entries.find((row) => row.id === id)?.operation
  const rank = ({ operation }: LogRow) => Number(operation !== own)
  return entries.filter((row) => row.id !== id).sort((a, b) => rank(a) - rank(b))
}

const NOT_KEPT = 'none, or not kept'

const requestIn = ({ request: { method, path, query, headers, body, body_kept } }: Trace) => ({
  ...{ method, path, query, headers },
  body: body_kept ? body : NOT_KEPT,
})

function responseIn({ response }: Trace): object {
  if (response === null) return { status: 'no response' }
  const { status, headers, body } = response
  const named = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]))
  return { status, headers: named, body: body === null ? NOT_KEPT : (asJson(body) ?? body) }
}

async function differences(ids: readonly string[]) {
  const [own, other] = await Promise.all(
    ids.map((request_id) => ask('GET /explain/{request_id}', { params: { request_id } })),
  )
  const parts = [['request', requestIn] as const, ['response', responseIn] as const]
  return parts
    .map(([ref, of]) => ({
      ref,
      what: 'differs',
      lines: fieldDifferences(of(own as Trace), of(other as Trace)),
    }))
    .filter(({ lines }) => lines.length > 0)
}

/** The differences between two requests, and between their responses. */
export function RequestCompare(props: {
  id: string
  other: string
  onChoose: (id: string) => void
  onClose: () => void
}) {
  const { id, other, onChoose, onClose } = props
  const loaded = useLive(() => differences([id, other]), [], `${id} ${other}`)
  const choices = comparable(id).map((row) => {
    const { at, method, path, status } = row
    return [row.id, `${row.id} · ${timeOfDay(at)} · ${method} ${shortPath(path)} ${status}`] as const
  })
  const field = { label: 'With (+)', value: other, choices, onChoose }
  const title = `Compare ${id} (−)`
  const linkOf = () => linkTo('requests', [other])
  return <CompareDialog {...{ title, fields: [field], loaded, noun: 'part', linkOf, onClose }} />
}
