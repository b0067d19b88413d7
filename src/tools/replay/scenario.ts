import type { RecordingBundle } from '../../core/record/bundle.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { shellWord } from '../../core/shell-word.ts'
import type { Document } from '../../core/state/state.ts'
import { counted } from '../../core/words.ts'
import { type Replayed, replayBundle } from './run.ts'
import { remainingRules, ScenarioTimeline } from './scenario-timeline.ts'

/**
 * A recording as the script of a scenario: the state at its start, and a timeline of what control calls did later. Replays the
 * recording, for the state and for the requests that the rules of faults matched.
 * @param name of the recording, for the reader of the scenario
 * @param until the number of inputs before the start; undefined: those before the first request
 * @param scenarios the directory of the scenarios of the bundle
 */
export async function scenarioOf(
  bundle: RecordingBundle,
  name: string,
  until: number | undefined,
  scenarios: string,
): Promise<string> {
  const { inputs } = bundle
  const first = inputs.findIndex((input) => 'request' in input)
  const begin = until ?? (first === -1 ? inputs.length : first)
  const replayed = (until: number) => replayBundle(bundle, { until, scenarios, listen: false })
  const { start, rules, others } = await reading(replayed(begin), async ({ sandbox, emulator }) => ({
    start: sandbox.document(),
    rules: remainingRules(sandbox),
    others: await recordsOfOthers(sandbox, await emulator.sandboxes.create('empty', NO_DATA, false)),
  }))
  const entries = await reading(replayed(inputs.length), async ({ sandbox }) => sandbox.log.entries())
  const requests = inputs.filter((input) => 'request' in input)
  const older = entries.length - requests.length
  const logged = new Map(requests.map((input, n) => [input, entries[n + older]]))
  const timeline = new ScenarioTimeline(Date.parse(start.clock.now), rules, logged)
  for (const input of inputs.slice(begin)) timeline.add(input)
  const { rate, now, skip_on_poll } = start.clock
  const stubs = start.stubs.map((stub) => ({ ...stub, source: undefined }))
  return [
    ...commentOf(bundle, start, name),
    ...timeline.recorded.map((line) => comment(`  ${line}`)),
    "import { defineScenario } from 'agent-workspace-emulator'",
    '',
    'export default defineScenario({',
    `  description: ${JSON.stringify(`The start of ${name}`)},`,
    `  clock: ${JSON.stringify({ now, rate, skip_on_poll })},`,
    `  settings: ${JSON.stringify(start.settings)},`,
    ...list('stubs', stubs),
    '  timeline: [',
    ...(others.length === 0 ? [] : [`    { at: '0s', do: ${JSON.stringify(others)} },`]),
    ...timeline.steps.map(({ at, work }) => `    { at: '${at}', do: ${work} },`),
    '  ],',
    '  fixtures: {',
    '    collections: {',
    ...Object.entries(start.collections).flatMap(([name, rows]) => list(name, rows, '      ')),
    '    },',
    '  },',
    '})',
  ].join('\n')
}

const NO_DATA = { fixtures: 'empty' }

async function reading<T>(replay: Promise<Replayed>, read: (replayed: Replayed) => Promise<T>): Promise<T> {
  const replayed = await replay
  return read(replayed).finally(() => replayed.emulator.close())
}

// The scenario is merged into the starting data, whose other records the recording does not have.
async function recordsOfOthers({ store }: Sandbox, others: Sandbox): Promise<object[]> {
  return Object.entries(others.document().collections).flatMap(([collection, rows]) =>
    rows.flatMap(({ id }) =>
      store.get(collection, id) === undefined ? [{ state: { delete: { collection, id } } }] : [],
    ),
  )
}

function list(name: string, rows: readonly unknown[], indent = '  '): string[] {
  if (rows.length === 0) return []
  return [`${indent}${name}: [`, ...rows.map((row) => `${indent}  ${JSON.stringify(row)},`), `${indent}],`]
}

function commentOf(bundle: RecordingBundle, start: Document, name: string): string[] {
  const { auth, limits, strict, revealFaults } = bundle.emulator
  const flags = [
    `--fixtures empty --seed ${start.seed} --clock ${start.clock.now}`,
    ...(auth === 'any' ? ['--auth any'] : []),
    ...(limits ? [] : ['--limits off']),
    ...(strict ? ['--strict'] : []),
    ...(revealFaults ? ['--reveal-faults'] : []),
  ].join(' ')
  const keys = new Set(
    bundle.inputs.flatMap((input) => {
      const head = 'request' in input ? input.request.head : ''
      return /^authorization: *bearer +([^\s@]+)/im.exec(head)?.[1] ?? []
    }),
  )
  const { scenario, idempotency, limits: windows } = start
  const missing = [
    ...(idempotency.length === 0 ? [] : [counted(idempotency.length, 'idempotency key')]),
    ...(windows.length === 0 ? [] : [counted(windows.length, 'rate window')]),
    ...(scenario === null ? [] : [`the functions and later steps of the scenario ${scenario.name}`]),
  ]
  return [
    `The situation of ${name}. Save this text as scenarios/recorded.ts, and start:`,
    `  npx workspace-emulator --ephemeral ${flags} --scenario recorded`,
    ...(keys.size === 0
      ? []
      : [`Keys are placeholders. Send ${[...keys].map(shellWord).join(', ')}, or start with --auth any.`]),
    ...(missing.length === 0 ? [] : [`A scenario cannot contain: ${missing.join(', ')}.`]),
    'What was recorded after the start, and at which time. Your client sends the requests and advances the clock; "timeline"',
    'marks the calls of the control interface that the timeline below repeats. Make the others yourself.',
  ].map(comment)
}

// Values of requests must not end the comment.
function comment(line: string): string {
  return `// ${line.replaceAll(/[\r\n\u2028\u2029]/g, ' ')}`
}
