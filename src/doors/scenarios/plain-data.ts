import { type Issue, pointer } from '../../kernel/json.ts'

/** A value of a script, as far as JSON can carry it. */
export interface PlainData {
  /** JSON, without the functions; absent where there are issues. */
  readonly text?: string
  /** Pointers of the functions that stand where functions may. */
  readonly functions: readonly string[]
  readonly issues: readonly Issue[]
}

/** So deep may objects and lists be nested. */
const DEEPEST = 100

/** Tells data from functions and from what is neither. @param mayBeFunction whether a function may stand at a path of keys */
export function plainData(
  value: unknown,
  mayBeFunction: (path: readonly string[]) => boolean = () => false,
): PlainData {
  const functions: string[] = []
  const issues: Issue[] = []
  const path: string[] = []
  const around = new Set<unknown>()
  const look = (at: unknown): void => {
    if (typeof at === 'function' && mayBeFunction(path)) {
      functions.push(pointer(...path))
      return
    }
    const problem =
      path.length > DEEPEST || around.has(at) ? 'is nested too deep, or contains itself' : problemOf(at)
    if (problem !== undefined) issues.push({ pointer: pointer(...path), detail: problem })
    else if (typeof at === 'object' && at !== null && !('toJSON' in at)) {
      around.add(at)
      for (const [key, member] of Object.entries(at)) {
        // A member that is undefined is no member, as for JSON.stringify; in a list it would become null.
        if (member === undefined && !Array.isArray(at)) continue
        path.push(key)
        look(member)
        path.pop()
      }
      around.delete(at)
    }
  }
  look(value)
  return issues.length > 0 ? { functions, issues } : { text: JSON.stringify(value), functions, issues }
}

function problemOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot carry`
    case 'function':
      return 'is a function; only "do" of a timeline step and members of "on" may be one'
    case 'object':
      return objectProblem(value)
    default:
      return `is of the type ${typeof value}, which JSON cannot carry`
  }
}

function objectProblem(value: object | null): string | undefined {
  if (value === null || Array.isArray(value) || 'toJSON' in value) return undefined
  const parent = Object.getPrototypeOf(value)
  if (parent === null || Object.getPrototypeOf(parent) === null) return undefined
  const name = value.constructor?.name ?? 'object of a class'
  return `is a ${name}; scenarios are made of plain objects, lists, texts and numbers`
}
