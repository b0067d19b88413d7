import { pointerAt } from '../../core/json-text.ts'
import type { RecordedInput, RecordedOutput } from '../../core/record/bundle.ts'

/** The first output of a replay that differs from the recorded one. Undefined when all of them are equal. */
export function differenceOf(recorded: readonly RecordedInput[], replayed: readonly RecordedInput[]) {
  // An attempt is an output of its own: when it begins between two inputs depends on the event loop.
  const others = replayed.filter((each) => !('attempt' in each))
  for (const [index, one] of recorded.entries()) {
    const other =
      'attempt' in one
        ? replayed.find((each) => 'attempt' in each && each.attempt === one.attempt)
        : others.shift()
    const [what, found] = [titleOf(one), other === undefined ? 'nothing' : titleOf(other)]
    const difference =
      found === what && other !== undefined
        ? differenceIn(outputOf(one), outputOf(other))
        : { place: 'what happened', recorded: what, replayed: found }
    /** `input`: its number, from 1. `place` in the output: a header, or a byte of the body. */
    if (difference !== undefined) return { input: index + 1, what, ...difference }
  }
  return undefined
}

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

function differenceIn(one: RecordedOutput | undefined, other: RecordedOutput | undefined) {
  if (one === undefined) return undefined
  if (other === undefined) return { place: 'the whole response', recorded: 'a response', replayed: 'none' }
  const [lines, others] = [one.head.split('\n'), other.head.split('\n')]
  const length = Math.max(lines.length, others.length)
  for (let line = 0; line < length; line++) {
    const [recorded = 'none', replayed = 'none'] = [lines[line], others[line]]
    if (recorded !== replayed) return { place: line === 0 ? 'status' : 'headers', recorded, replayed }
  }
  // Of a long body that was no longer kept, only the length is known.
  const isKnown = one.crc32 !== undefined && other.crc32 !== undefined
  if ((isKnown && one.crc32 !== other.crc32) || one.bytes !== other.bytes) return inBody(one, other)
  const [recorded, replayed] = [sentOf(one), sentOf(other)]
  return recorded === replayed ? undefined : { place: 'bytes sent', recorded, replayed }
}

// How much a client had got when it left depends on its speed.
function sentOf({ sent }: RecordedOutput): string {
  return sent?.end === 'left' ? 'left' : JSON.stringify(sent ?? null)
}

/** Characters that are shown on both sides of a difference. */
const AROUND = 30

function inBody(one: RecordedOutput, other: RecordedOutput) {
  const [recorded, replayed] = [one.text, other.text]
  if (recorded === undefined || replayed === undefined) {
    const facts = ({ bytes, crc32 }: RecordedOutput) =>
      crc32 === undefined ? `${bytes} bytes` : `${bytes} bytes, CRC-32 ${crc32}`
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
