import type { RecordedInput, RecordedOutput } from '../../../core/record/bundle.ts'
import { pointerAt } from '../../json-text.ts'

/** The first output of a replay that differs from the recorded one. */
export interface OutputDifference {
  /** Number of the input, from 1. */
  readonly input: number
  readonly what: string
  /** The place in the output: a header, or a byte of the body. */
  readonly place: string
  readonly recorded: string
  readonly replayed: string
}

/** Compares the outputs of the same inputs. Undefined when all of them are equal. */
export function differenceOf(
  recorded: readonly RecordedInput[],
  replayed: readonly RecordedInput[],
): OutputDifference | undefined {
  // An attempt is an output of its own: when it begins between two inputs depends on the event loop.
  const others = replayed.filter((each) => !('attempt' in each))
  for (const [index, one] of recorded.entries()) {
    const other =
      'attempt' in one
        ? replayed.find((each) => 'attempt' in each && each.attempt === one.attempt)
        : others.shift()
    const at = { input: index + 1, what: titleOf(one) }
    if (other === undefined || titleOf(other) !== titleOf(one)) {
      const found = other === undefined ? 'nothing' : titleOf(other)
      return { ...at, place: 'what happened', recorded: titleOf(one), replayed: found }
    }
    const [a, b] = [outputOf(one), outputOf(other)]
    const found = a && (b === undefined ? NO_OUTPUT : differenceIn(a, b))
    if (found !== undefined) return { ...at, ...found }
  }
  return undefined
}

const NO_OUTPUT = { place: 'the whole response', recorded: 'a response', replayed: 'none' }

/** An input as a line of text. */
export function titleOf(input: RecordedInput): string {
  if ('request' in input) return input.request.head.split(' ', 2).join(' ')
  if ('connection' in input) return `connection ${input.connection}`
  if ('control' in input) return `control ${input.control.route}`
  if ('attempt' in input) return `webhook ${input.attempt}`
  if ('outcomes' in input) return `outcome ${input.outcomes.map(({ attempt }) => attempt).join(', ')}`
  return `function ${input.returned}`
}

function outputOf(input: RecordedInput): RecordedOutput | undefined {
  return 'output' in input ? input.output : undefined
}

type Found = Omit<OutputDifference, 'input' | 'what'>

function differenceIn(one: RecordedOutput, other: RecordedOutput): Found | undefined {
  const [lines, others] = [one.head.split('\n'), other.head.split('\n')]
  const at = lines.findIndex((line, n) => line !== others[n])
  if (at !== -1 || lines.length !== others.length) {
    const line = at === -1 ? lines.length : at
    const [recorded = 'none', replayed = 'none'] = [lines[line], others[line]]
    return { place: line === 0 ? 'status' : 'headers', recorded, replayed }
  }
  if (one.crc32 !== other.crc32 || one.bytes !== other.bytes) return inBody(one, other)
  const { sent, ...rest } = { sent: one.sent ?? null, other: other.sent ?? null }
  // How much a client had got when it left depends on its speed.
  const isSame =
    sent?.end === 'left' ? rest.other?.end === 'left' : JSON.stringify(sent) === JSON.stringify(rest.other)
  if (isSame) return undefined
  return { place: 'bytes sent', recorded: JSON.stringify(sent), replayed: JSON.stringify(rest.other) }
}

/** Characters that are shown on both sides of a difference. */
const AROUND = 30

function inBody(one: RecordedOutput, other: RecordedOutput): Found {
  const [recorded, replayed] = [one.text, other.text]
  if (recorded === undefined || replayed === undefined) {
    const facts = ({ bytes, crc32 }: RecordedOutput) => `${bytes} bytes, CRC-32 ${crc32}`
    return { place: 'body, whose text is not in the recording', recorded: facts(one), replayed: facts(other) }
  }
  let at = 0
  while (at < recorded.length && recorded[at] === replayed[at]) at++
  const offset = Buffer.byteLength(recorded.slice(0, at))
  const pointer = pointerAt(recorded, at)
  const part = (text: string) => text.slice(Math.max(0, at - AROUND), at + AROUND)
  const place = `byte ${offset} of the body${pointer === undefined ? '' : `, at ${pointer}`}`
  return { place, recorded: part(recorded), replayed: part(replayed) }
}
