import { type PatternNode, UnsupportedPattern } from './pattern-syntax.ts'

type Step =
  | { readonly kind: 'set'; readonly has: (char: string) => boolean }
  | { readonly kind: 'fork'; first: number; second: number }
  | { readonly kind: 'start' | 'end' | 'word' | 'inside' }
  | { readonly kind: 'look'; readonly program: readonly Step[]; readonly negated: boolean }
  | { readonly kind: 'match' }

const MAX_STEPS = 5_000

/**
 * Turns a pattern into a matcher that looks at each character once (all alternatives side by side), so that
 * no pattern, however it nests its repeats, can hold up the process; only a look-ahead reads on from each place
 * where it is met. Throws `UnsupportedPattern` where its counted repeats unfold to more than 5,000 steps.
 */
export function linearMatcher(ast: PatternNode): (text: string) => boolean {
  const program = compile(ast, { left: MAX_STEPS })
  return (text) => runs(program, Array.from(text), 0, true)
}

function compile(ast: PatternNode, budget: { left: number }): Step[] {
  const program: Step[] = []
  emit(ast, program, budget)
  program.push({ kind: 'match' })
  return program
}

function emit(node: PatternNode, out: Step[], budget: { left: number }): void {
  if (--budget.left < 0)
    throw new UnsupportedPattern(
      'repeats so often that it cannot be matched in bounded time; lower its counts',
    )
  switch (node.kind) {
    case 'seq':
      for (const part of node.parts) emit(part, out, budget)
      break
    case 'alt':
      emitAlternatives(node.options, out, budget)
      break
    case 'repeat':
      for (let count = 0; count < node.least; count++) emit(node.body, out, budget)
      if (node.most === Infinity) emitLoop(node.body, out, budget)
      else for (let count = node.least; count < node.most; count++) emitOptional(node.body, out, budget)
      break
    case 'look':
      out.push({ kind: 'look', program: compile(node.body, budget), negated: node.negated })
      break
    default:
      out.push(node)
  }
}

function emitAlternatives(options: readonly PatternNode[], out: Step[], budget: { left: number }): void {
  const ends: { first: number; second: number }[] = []
  for (const [index, option] of options.entries()) {
    const fork = { kind: 'fork' as const, first: out.length + 1, second: out.length + 1 }
    if (index < options.length - 1) out.push(fork)
    emit(option, out, budget)
    const jump = { kind: 'fork' as const, first: 0, second: 0 }
    if (index < options.length - 1) out.push(jump)
    ends.push(jump)
    fork.second = out.length
  }
  for (const end of ends) end.first = end.second = out.length
}

function emitLoop(body: PatternNode, out: Step[], budget: { left: number }): void {
  const start = out.length
  const fork = { kind: 'fork' as const, first: start + 1, second: 0 }
  out.push(fork)
  emit(body, out, budget)
  out.push({ kind: 'fork', first: start, second: start })
  fork.second = out.length
}

function emitOptional(body: PatternNode, out: Step[], budget: { left: number }): void {
  const fork = { kind: 'fork' as const, first: out.length + 1, second: 0 }
  out.push(fork)
  emit(body, out, budget)
  fork.second = out.length
}

/** Runs a program over the characters from `from`; a floating one may begin at any later character too. */
function runs(program: readonly Step[], chars: readonly string[], from: number, floating: boolean): boolean {
  const reachedAt = new Int32Array(program.length).fill(-1)
  let states: number[] = []
  for (let at = from; at <= chars.length; at++) {
    const here: number[] = []
    for (const state of states) follow(program, chars, at, state, here, reachedAt)
    if (floating || at === from) follow(program, chars, at, 0, here, reachedAt)
    if (here.includes(program.length - 1)) return true
    if (here.length === 0 && !floating) return false
    states = []
    const char = chars[at]
    for (const state of here) {
      const step = program[state]
      if (char !== undefined && step?.kind === 'set' && step.has(char)) states.push(state + 1)
    }
  }
  return false
}

/** Adds every state that is reached from one without taking a character. */
function follow(
  program: readonly Step[],
  chars: readonly string[],
  at: number,
  from: number,
  reached: number[],
  reachedAt: Int32Array,
): void {
  const pending = [from]
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    const step = program[state]
    if (step === undefined || reachedAt[state] === at) continue
    reachedAt[state] = at
    if (step.kind === 'set' || step.kind === 'match') reached.push(state)
    else if (step.kind === 'fork') pending.push(step.second, step.first)
    else if (holds(step, chars, at)) pending.push(state + 1)
  }
}

function holds(
  step: Exclude<Step, { kind: 'fork' | 'match' | 'set' }>,
  chars: readonly string[],
  at: number,
): boolean {
  if (step.kind === 'start') return at === 0
  if (step.kind === 'end') return at === chars.length
  if (step.kind === 'look') return runs(step.program, chars, at, false) !== step.negated
  const edge = isWord(chars[at - 1]) !== isWord(chars[at])
  return edge === (step.kind === 'word')
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^\w$/.test(char)
}
