import { expect, test } from 'vitest'
import { anEntry, type Step } from '../../../test/support/observed-log.ts'
import type { FaultDraft } from '../../core/faults/rule.ts'
import { workspaceService } from '../../emulator/service.ts'
import { failureOf } from './judge.ts'
import { reportedErrors } from './runner-errors.ts'
import type { Trial } from './trial.ts'

const passed: Trial = {
  exit_code: 0,
  signal: null,
  isLate: false,
  ms: 100,
  output: '',
  errors: [],
  hasJunit: false,
  entries: [],
  findings: [],
  deliveries: 0,
  service: workspaceService,
  fired: 1,
  recordings: [],
}

const created = (n: number, step: Step = {}) =>
  anEntry({ operation: 'pages.create', body: { name: 'a' }, created: [`pages/${n}`], ...step }, n)

const finding = {
  severity: 'warning' as const,
  message: 'The client did not wait.',
  requests: [],
  evidence: {},
  section: 'Limits',
  fix: 'Wait.',
  operation: 'pages.create',
}

function failure(
  trial: Partial<Trial>,
  clean: Partial<Trial> = {},
  { rules = [], known = [] }: { rules?: readonly FaultDraft[]; known?: readonly string[] } = {},
) {
  const comparison = { clean: { ...passed, ...clean }, rules, limit: 10_000, known: new Set(known) }
  return failureOf({ ...passed, ...trial }, comparison)
}

const failed = (output: string): Partial<Trial> => ({ exit_code: 1, errors: reportedErrors(output) })

test.for<[what: string, kind: string | undefined, trial: Partial<Trial>, clean?: Partial<Trial>]>([
  ['it passes', undefined, {}],
  ['it still runs', 'hang', { isLate: true, entries: [created(1)] }],
  ['it still runs, and sent nothing', 'hang', { isLate: true }],
  [
    'it still waits as it was told',
    'clear error',
    { isLate: true, entries: [created(1, { status: 429, retryAfter: '3600' })] },
  ],
  ['a signal ends it', 'crash', { exit_code: 134, signal: 'SIGABRT' }],
  ['an error of the program itself', 'crash', failed('TypeError: x is not a function')],
  ['an error of the program that passes', undefined, { ...failed('TypeError: x'), exit_code: 0 }],
  ['an exit code alone', 'clear error', failed('it did not work')],
  ['an assertion', 'wrong result', failed('AssertionError [ERR_ASSERTION]: 22 !== 23')],
  ['the same content twice', 'duplicate', { entries: [created(1), created(2)] }, { entries: [created(1)] }],
  [
    'the same content as often as without faults',
    undefined,
    { entries: [created(1), created(2)] },
    { entries: [created(1), created(2)] },
  ],
  [
    'contents with a random part',
    undefined,
    { entries: [created(1, { body: { name: 'x' } }), created(2, { body: { name: 'y' } })] },
    { entries: [created(1, { body: { name: 'v' } }), created(2, { body: { name: 'w' } })] },
  ],
  ['it passes without what it should have created', 'wrong result', {}, { entries: [created(1)] }],
  ['a finding that is new', 'conduct', { findings: [{ ...finding, code: 'wait.none' }] }],
  [
    'a finding that is there without faults',
    undefined,
    { findings: [{ ...finding, code: 'wait.none' }] },
    { findings: [{ ...finding, code: 'wait.none' }] },
  ],
  ['a note', undefined, { findings: [{ ...finding, severity: 'note', code: 'page.stopped-early' }] }],
])('%s: %s', ([, kind, trial, clean]) => {
  expect(failure(trial, clean)?.kind).toBe(kind)
})

test('the worst failure counts, and the verdicts on conduct are beside it', () => {
  const found = failure({
    ...failed('AssertionError: 2 !== 1'),
    entries: [created(1), created(2)],
    findings: [{ ...finding, code: 'key.missing', severity: 'error' }],
  })
  expect(found).toEqual({
    kind: 'duplicate',
    message: 'pages.create with the same content took effect 2 times, without faults 1 time.',
    conduct: ['error key.missing'],
    defect: 'pages.create with the same content took effect # times, without faults # time.',
  })
})

test('other results are right when the fault has changed the records', () => {
  const trial = failed('AssertionError: 22 !== 23')
  expect(failure(trial, {}, { rules: [{ preset: 'page-cursor-deleted' }] })?.kind).toBe('clear error')
  expect(failure(trial, {}, { rules: [{ preset: 'webhook-dropped' }] })?.kind).toBe('clear error')
  expect(failure(trial, {}, { rules: [{ preset: 'page-empty-has-more' }] })?.kind).toBe('wrong result')
})

test('a command that gives up because of a later version has a finding about its conduct', () => {
  const rules = [{ preset: 'tomorrow' }]
  const entries = [created(1, { tomorrow: ['field'] })]
  const trial = { ...failed('ZodError: unrecognized key'), entries }
  expect(failure(trial, { entries }, { rules })).toMatchObject({
    kind: 'conduct',
    conduct: ['warning evolve.unknown-value'],
    defect: 'evolve.unknown-value at pages.create',
  })
  expect(failure({ ...trial, exit_code: 0 }, { entries }, { rules })).toBe(undefined)
  expect(failure({ ...trial, entries: [created(1)] }, { entries }, { rules })?.kind).toBe('clear error')
  const both = { rules: [...rules, { preset: 'rate-limited' }] }
  expect(failure(trial, { entries }, both)?.kind).toBe('clear error')
})

test('failures are the same defect whatever names and numbers they show, and JSON that is bad in one operation', () => {
  const crash = (output: string, operation = 'pages.create') =>
    failure({ ...failed(output), entries: [created(1, { operation })] })?.defect
  const html = crash('SyntaxError: Unexpected token < in JSON')
  expect(crash('SyntaxError: Unexpected end of JSON input')).toBe(html)
  expect(crash('SyntaxError: Unexpected end of JSON input', 'batch-predictions.results')).not.toBe(html)
  const page = crash('RangeError: 3 of page 0123ab')
  expect(crash('RangeError: 4 of page 4567cd', 'data-views.list')).toBe(page)
  expect(crash('RangeError: 3')).not.toBe(html)
})

test('a verdict on conduct is one defect in each operation, also when a run has another one beside it', () => {
  const wait = { ...finding, code: 'wait.none' }
  const other = { ...finding, code: 'poll.endless', message: 'The client polled for ever.' }
  const alone = failure({ findings: [wait] })?.defect ?? expect.fail('no failure')
  expect(failure({ findings: [{ ...wait, operation: 'pages.list' }] })?.defect).not.toBe(alone)
  const beside = failure({ findings: [wait, other] }, {}, { known: [alone] }) ?? expect.fail('no failure')
  expect(beside).toMatchObject({ message: 'The client polled for ever.' })
  expect(failure({ findings: [wait, other] }, {}, { known: [beside.defect] })?.defect).toBe(alone)
  expect(failure({ findings: [wait, other] }, {}, { known: [alone, beside.defect] })?.defect).toBe(alone)
})
