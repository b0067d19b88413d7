import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Settings } from '../../core/assumptions.ts'
import type { JsonObject } from '../../core/json.ts'
import { shellWord } from '../../core/shell-word.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { counted } from '../../core/words.ts'
import { workspaceService } from '../../emulator/service.ts'
import { RouteTable } from '../../server/route-table.ts'
import { RECEIVED_KINDS } from '../../service/imported.ts'
import { CommandFailed, type Invocation } from '../../terminal/command.ts'
import type { Line } from '../../terminal/line.ts'
import { codeOf, show, table } from '../../terminal/print.ts'
import type { IMPORT_OPTIONS } from '../options.ts'
import { ShownSettings } from '../traffic/compare.ts'
import { baseOf, commonBase, type HarEntry, readEntry } from '../traffic/har.ts'
import { build, type ImportedRecords } from './build.ts'
import { Collected } from './collect.ts'
import { harEntries, isDamaged } from './entries.ts'

type ImportInvocation = Invocation<typeof IMPORT_OPTIONS>

/** `import`: writes fixtures with the records in the traffic of HAR files. */
export async function importFiles(invocation: ImportInvocation): Promise<number> {
  const { args, options } = invocation
  const { operations } = workspaceService
  const routes = new RouteTable(operations.values())
  const base = options.base === undefined ? commonBase(exchangesIn(args), routes) : baseOf(options.base)
  const shown = new ShownSettings({ service: workspaceService, settings: new Settings() })
  const collected = new Collected(base, operations.values(), (exchange) => shown.add(exchange))
  let entries = 0
  for (const file of args)
    for (const raw of harEntries(file)) {
      if (isDamaged(raw)) collected.leaveOut(raw.reason)
      else if (isEntry(raw)) {
        entries += 1
        collected.add(readEntry(raw))
      }
    }
  if (collected.used === 0) throw new CommandFailed(nothingIn(args, base, entries, collected.leftOut))
  const { out, settingsOut, keepNames, absolute } = options
  const { chosen } = shown
  // Records that fit only under other settings need the file with them.
  const settings = new Settings(settingsOut === undefined ? {} : chosen)
  const secret = keepNames ? '' : secretIn(options.data)
  const how = { service: workspaceService, settings, suggested: chosen, secret, keepNames, absolute }
  const built = build(collected, how)
  const suggested = { ...chosen, ...built.names }
  writing(out, () => writeFixtures(out, built))
  if (settingsOut !== undefined)
    writing(settingsOut, () => writeFileSync(settingsOut, `${JSON.stringify(suggested, null, 2)}\n`))
  const report = reportOf(collected, built)
  const now = formatInstant(collected.newest)
  const { filled, keys } = built
  const start = ['workspace-emulator start', '--fixtures', shellWord(out)]
  if (settingsOut !== undefined) start.push('--settings', shellWord(settingsOut))
  if (absolute) start.push('--clock', now)
  return show(
    invocation,
    {
      ...{ written: out, base, entries, used: collected.used, newest: now, ...report, filled },
      keys: keys.map(({ token, user_id, teamspace_id }) => ({ key: token, user_id, teamspace_id })),
      ...{ settings: suggested, names_kept: keepNames, start: start.join(' ') },
    },
    [
      `${out} written: ${counted(collected.used, 'exchange')} of ${entries} with ${base} became records.`,
      ...table(
        ['COLLECTION', 'RECORDS', 'EXCHANGES'],
        report.records.map((each) => Object.values(each)),
      ),
      ...titled(
        'Left out:',
        Object.entries(report.left_out).map(([why, n]) => `${n}: ${why}`),
      ),
      ...titled('Added, because other records need them:', filled),
      'Keys (those of the fixtures demo):',
      ...keys.map(
        ({ token, user_id, teamspace_id }) => `  ${token}: ${user_id ?? 'service key'} in ${teamspace_id}`,
      ),
      keepNames
        ? 'Names and texts are kept as they were recorded; keys, tokens and signed URLs are removed.'
        : 'Every text is replaced by another one of the same form; ids, instants and numbers are kept.',
      ...titled('Paths that answer 501 until they have an endpoint:', report.endpoints),
      ...(Object.keys(suggested).length === 0
        ? []
        : [
            `Settings that the traffic shows${settingsOut ? ` (in ${settingsOut})` : ''}: ${JSON.stringify(suggested)}`,
          ]),
      start.join(' '),
    ],
  )
}

const isEntry = (raw: unknown) => typeof raw === 'object' && raw !== null && 'request' in raw

function* exchangesIn(files: readonly string[]): Iterable<HarEntry | undefined> {
  for (const file of files) for (const raw of harEntries(file)) if (isEntry(raw)) yield readEntry(raw)
}

function nothingIn(
  files: readonly string[],
  base: string,
  entries: number,
  leftOut: Readonly<Record<string, number>>,
): string {
  const where = files.join(', ')
  const why = Object.entries(leftOut).map(([reason, n]) => `${n}: ${reason}`)
  const reasons = why.length === 0 ? '' : ` (${why.join('; ')})`
  return entries === 0
    ? `${where}: no HAR file: there is no entry in log.entries${reasons}. Export the requests of a browser or a proxy as HAR, with content.`
    : `${where}: no exchange with ${base || 'the service'} has a record${reasons}. Record with the bodies of responses, or give the base URL with --base, such as https://api.example.com/v1.`
}

/** The secret of this directory, from which the replaced texts follow: the same text always gets the same one. */
function secretIn(folder: string): string {
  const file = join(folder, 'import-secret')
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw new CommandFailed(`${file} cannot be read (${codeOf(error)}).`)
  }
  const secret = randomBytes(32).toString('hex')
  writing(file, () => writeFileSync(file, secret, { mode: 0o600 }))
  return secret
}

function writing(file: string, write: () => void): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    write()
  } catch (error) {
    throw new CommandFailed(
      `${file} cannot be written (${codeOf(error)}). Check the directory and its permissions.`,
    )
  }
}

// A record on each line: written one after another, and easy to compare.
function writeFixtures(file: string, { collections, own, organization }: ImportedRecords): void {
  const handle = openSync(file, 'w')
  const lists = (name: string, all: Readonly<Record<string, readonly JsonObject[]>>) => {
    writeSync(handle, `,\n  ${JSON.stringify(name)}: {`)
    for (const [n, [key, rows]] of Object.entries(all).entries()) {
      writeSync(handle, `${n > 0 ? ',' : ''}\n    ${JSON.stringify(key)}: [`)
      for (const [index, row] of rows.entries())
        writeSync(handle, `${index > 0 ? ',' : ''}\n      ${JSON.stringify(row)}`)
      writeSync(handle, '\n    ]')
    }
    writeSync(handle, '\n  }')
  }
  writeSync(handle, `{\n  "organization": ${JSON.stringify(organization)}`)
  lists('collections', collections)
  if (Object.keys(own).length > 0) lists('own', own)
  writeSync(handle, '\n}\n')
  closeSync(handle)
}

function reportOf(
  { exchanges, leftOut, unanswered }: Collected,
  { collections, own, leftOut: unfit }: ImportedRecords,
) {
  const seen = new Map<string, number>()
  for (const [kind, number] of exchanges) {
    const name = RECEIVED_KINDS.find((each) => each.name === kind)?.collection ?? kind
    seen.set(name, (seen.get(name) ?? 0) + number)
  }
  const records = Object.entries({ ...collections, ...own })
    .filter(([name]) => name !== 'api_keys')
    .map(([collection, rows]) => ({ collection, records: rows.length, exchanges: seen.get(collection) ?? 0 }))
  return {
    records,
    left_out: { ...leftOut, ...unfit },
    endpoints: [...unanswered].sort().map((each) => `workspace-emulator endpoints add ${each}`),
  }
}

function titled(title: string, lines: readonly string[]): Line[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}
