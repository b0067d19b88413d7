import type { LogRow } from './requests.ts'

/** A parsed filter of requests, and the problem if a part of it is not understood. */
export interface RequestTest {
  readonly test: (row: LogRow) => boolean
  readonly problem?: string
}

type Check = (row: LogRow, value: string) => boolean

const like = (text: string | null | undefined, value: string) => {
  if (text === null || text === undefined) return false
  const parts = value.toLowerCase().split('*')
  let from = 0
  return parts.every((part) => {
    const at = text.toLowerCase().indexOf(part, from)
    from = at + part.length
    return at !== -1
  })
}

const KEYS: Readonly<Record<string, Check>> = {
  status: ({ status }, value) =>
    /^\dxx$/i.test(value) ? Math.floor(status / 100) === Number(value[0]) : String(status) === value,
  method: ({ method }, value) => method.toLowerCase() === value.toLowerCase(),
  path: ({ path }, value) => like(path, value),
  operation: ({ operation }, value) => like(operation, value),
  fault: ({ faults }, value) => faults.some((id) => like(id, value)),
  key: ({ idempotency_key }, value) => like(idempotency_key, value),
  id: ({ id }, value) => like(id, value),
  // The origins of pages that cannot read the response.
  origin: ({ cors }, value) => cors !== undefined && like(cors.origin ?? '', value),
}

/** Reads a filter: `status:429 method:post path:pages fault:*`; other words are searched in path and id. */
export function requestTest(text: string): RequestTest {
  const words = text.split(/\s+/).filter((word) => word !== '')
  let problem: string | undefined
  const checks = words.flatMap((word): ((row: LogRow) => boolean)[] => {
    const [, name, value = ''] = /^([a-z_]+):(.*)$/i.exec(word) ?? []
    if (name === undefined) return [(row) => like(row.path, word) || like(row.id, word)]
    const check = KEYS[name.toLowerCase()]
    if (check !== undefined) return value === '' ? [] : [(row) => check(row, value)]
    problem = `There is no filter "${name}:". The filters are ${Object.keys(KEYS).join(', ')}.`
    return []
  })
  return { test: (row) => checks.every((check) => check(row)), ...(problem !== undefined && { problem }) }
}
