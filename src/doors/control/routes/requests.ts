import * as z from 'zod'
import { didYouMean } from '../../../kernel/assumptions.ts'
import { refuse, refuseInvalid } from '../../../kernel/errors.ts'
import { queryInt, queryText } from '../../../kernel/fields.ts'
import { parseInstant } from '../../../kernel/instant.ts'
import type { LogEntry } from '../../../kernel/request-log.ts'
import type { Sandbox } from '../../../kernel/sandbox.ts'
import { type AnyRoute, route } from '../route.ts'

/** How many entries a list holds when nobody asks for another number. */
const USUAL = 100

const filter = () =>
  z
    .strictObject({
      operation: queryText().optional(),
      status: queryText()
        .refine((value) => /^[1-5](\d\d|xx)$/.test(value), {
          error: 'must be a status such as 429, or a class such as 4xx',
        })
        .optional(),
      since: queryText().optional(),
      limit: queryInt(1, 100_000).optional(),
    })
    .prefault({})

type Filter = z.output<ReturnType<typeof filter>>

/** The log of API requests. */
export const requestRoutes: readonly AnyRoute[] = [
  route({
    name: 'requests.list',
    method: 'GET',
    path: '/requests',
    summary: `List the newest API requests (${USUAL} unless limit says otherwise), in order of arrival`,
    answers: 'The entries, how many the log can hold, and how many it has dropped.',
    query: filter,
    handle: ({ sandbox, query }) => {
      const { log } = sandbox
      refuseUnknownOperation(sandbox, query.operation)
      const found = since(sandbox, query.since).filter((entry) => fits(entry, query))
      return {
        body: {
          object: 'list',
          data: found.slice(-(query.limit ?? USUAL)).map(entryOf),
          matched: found.length,
          capacity: log.capacity,
          dropped: log.dropped,
        },
      }
    },
  }),
  route({
    name: 'requests.clear',
    method: 'DELETE',
    path: '/requests',
    summary: 'Empty the log of API requests',
    answers: 'Nothing.',
    success: [204],
    handle: ({ sandbox }) => {
      sandbox.log.clear()
      return { status: 204 }
    },
  }),
]

// An instant takes the entries from then on; an id takes those after it, for whoever reads the log piece by piece.
function since(sandbox: Sandbox, point: string | undefined): LogEntry[] {
  const entries = sandbox.log.entries()
  if (point === undefined) return entries
  const index = entries.findIndex(({ id }) => id === point)
  if (index !== -1) return entries.slice(index + 1)
  const from = parseInstant(point)?.ms ?? refusePoint()
  return entries.filter(({ at }) => Date.parse(at) >= from)
}

function refusePoint(): never {
  const detail = 'is neither an ISO 8601 instant nor the id of a request in the log'
  return refuse('validation_failed', {
    detail: `since ${detail}.`,
    issues: [{ pointer: '/query/since', detail }],
  })
}

function refuseUnknownOperation({ service }: Sandbox, name: string | undefined): void {
  if (name === undefined || service.operations.has(name)) return
  const hint = didYouMean(name, [...service.operations.keys()])
  refuseInvalid([{ pointer: '/query/operation', detail: `There is no operation "${name}".${hint}` }])
}

function fits(entry: LogEntry, { operation, status }: Filter): boolean {
  if (operation !== undefined && entry.operation !== operation) return false
  if (status === undefined) return true
  const given = String(entry.status)
  return status.endsWith('xx') ? given[0] === status[0] : given === status
}

// What changed is named, not shown: the records themselves are in the state.
function entryOf({ commit, admission, ...entry }: LogEntry) {
  const changes = (commit?.changes ?? []).filter(({ table }) => !table.startsWith('$'))
  const { retryAfter, ...quota } = admission
  return {
    ...entry,
    operation: entry.operation ?? null,
    caller: entry.caller ?? null,
    error: entry.error ?? null,
    admission: { ...quota, retry_after: retryAfter ?? null },
    changed: changes.map(({ table, id }) => `${table}/${id}`),
  }
}
