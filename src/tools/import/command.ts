import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Settings } from '../../core/assumptions.ts'
import { shellWord } from '../../core/shell-word.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { workspaceService } from '../../emulator/service.ts'
import { RouteTable } from '../../server/route-table.ts'
import { CommandFailed, type Invocation } from '../../terminal/command.ts'
import type { Line } from '../../terminal/line.ts'
import { codeOf, columns, linesOf, show } from '../../terminal/print.ts'
import { baseOf, commonBase, skippedText } from '../drift/har.ts'
import { ShownSettings } from '../drift/shown-settings.ts'
import type { IMPORT_OPTIONS } from '../options.ts'
import { build, type ImportedRecords } from './build.ts'
import { Collected } from './collect.ts'
import { harEntries } from './entries.ts'

type ImportInvocation = Invocation<typeof IMPORT_OPTIONS>

/** `import`: writes fixtures with the records in the traffic of HAR files. */
export async function importFiles(invocation: ImportInvocation): Promise<number> {
  const { args: files, options } = invocation
  const { operations } = workspaceService
  const { out, settingsOut, keepNames, absolute } = options
  const base =
    options.base === undefined
      ? commonBase(entriesOf(files), new RouteTable(operations.values()))
      : baseOf(options.base)
  const shown = new ShownSettings({ service: workspaceService, settings: new Settings() })
  const collected = new Collected(base, operations.values(), (exchange) => shown.add(exchange))
  let entries = 0
  for (const entry of entriesOf(files, (reason) => collected.leaveOut(reason))) {
    entries += 1
    collected.add(entry)
  }
  const { exchanges, leftOut, unanswered, newest, used } = collected
  if (used === 0) {
    const why =
      entries === 0
        ? 'there is no entry in log.entries'
        : `no exchange with ${base || 'the service'} has a record`
    throw new CommandFailed(
      `${files.join(', ')}: ${why} (${skippedText(leftOut)}). Export the requests of a browser or a proxy as HAR, with content, and give the base URL with --base, such as https://api.example.com/v1.`,
    )
  }
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
  const { api_keys: keys = [], ...records } = { ...built.collections, ...built.own }
  const start = ['workspace-emulator start', '--fixtures', shellWord(out)]
  if (settingsOut !== undefined) start.push('--settings', shellWord(settingsOut))
  if (absolute) start.push('--clock', formatInstant(newest))
  const report = {
    ...{ written: out, base, entries, used, newest: formatInstant(newest) },
    texts: keepNames
      ? 'kept as recorded; keys, tokens and signed URLs are removed'
      : 'replaced by others of the same form; ids, instants and numbers are kept',
    records: Object.entries(records).map(([collection, rows]) => ({
      ...{ collection, records: rows.length, exchanges: exchanges.get(collection) ?? 0 },
    })),
    left_out: { ...leftOut, ...built.leftOut },
    filled: built.filled,
    keys: keys.map(({ token, user_id = null, teamspace_id }) => ({ key: token, user_id, teamspace_id })),
    endpoints: [...unanswered].sort().map((each) => `workspace-emulator endpoints add ${each}`),
    settings: suggested,
    start: start.join(' '),
  }
  return show(invocation, report, Object.entries(report).flatMap(sectionOf))
}

/** A part of the report as lines: none for one that is empty. */
function sectionOf([name, value]: [name: string, value: unknown]): Line[] {
  if (typeof value !== 'object' || value === null) return columns([[name, value]])
  if (Object.keys(value).length === 0) return []
  const isList = Array.isArray(value)
  const isTable = isList && typeof value[0] === 'object'
  return ['', `${name}:`, ...(isList && !isTable ? value : linesOf(isTable ? { data: value } : value))]
}

function* entriesOf(files: readonly string[], leaveOut?: (reason: string) => void) {
  for (const file of files) yield* harEntries(file, leaveOut)
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
function writeFixtures(file: string, { organization, collections, own }: ImportedRecords): void {
  const handle = openSync(file, 'w')
  writeSync(handle, `{"organization": ${JSON.stringify(organization)}`)
  for (const [part, lists] of Object.entries({ collections, own })) {
    writeSync(handle, `,\n"${part}": {`)
    for (const [n, [name, rows]] of Object.entries(lists).entries()) {
      writeSync(handle, `${n > 0 ? ',' : ''}\n${JSON.stringify(name)}: [`)
      for (const [at, row] of rows.entries())
        writeSync(handle, `${at > 0 ? ',' : ''}\n${JSON.stringify(row)}`)
      writeSync(handle, ']')
    }
    writeSync(handle, '}')
  }
  writeSync(handle, '}\n')
  closeSync(handle)
}
