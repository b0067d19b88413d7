import { createRequire } from 'node:module'
import type { BareItem, InnerList, Item } from 'structured-headers'
import { Refusal } from '../../core/errors.ts'
import {
  armByHeader,
  type HeaderFault,
  type HeaderValue,
  headerRefusal,
} from '../../core/faults/header/rules.ts'
import type { Call } from '../../core/request/exchange.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'

type StructuredModule = typeof import('structured-headers')

// A bundler sees the plain require and wraps the package, still to be run on first use; in plain ESM that name does not
// exist and createRequire takes over. A request without the header never pays for it.
function structured(): StructuredModule {
  try {
    return require('structured-headers') as StructuredModule
  } catch {
    return createRequire(import.meta.url)('structured-headers') as StructuredModule
  }
}

/** The header with which a request asks for faults of its own. Lower case, as Node has it. */
const NAME = 'x-emulator-fault'

/** Members of one header: each arms a rule. */
const MAX_MEMBERS = 20

/**
 * Arms the faults that a request names in its header X-Emulator-Fault, unless an earlier one has armed them already.
 * @returns the ids of their rules, for `Call.armed`; undefined without the header; a refusal (400) when it cannot be obeyed,
 * in which case nothing is armed
 */
export function faultsOfHeader(
  sandbox: Sandbox,
  headers: Call['headers'],
): readonly string[] | Refusal | undefined {
  const value = headers[NAME]
  if (value === undefined) return undefined
  try {
    return armByHeader(sandbox, readFaultHeader(value))
  } catch (error) {
    return error instanceof Refusal ? error : sandbox.reportDefect(error)
  }
}

/**
 * Reads a structured field (RFC 9651): a list of tokens, each the name of a preset, with parameters that say what is to be
 * different about it. Throws a {@link Refusal} that says where it goes wrong.
 * @example readFaultHeader('retry-after-http-date;in=2;nth=1, server-error;status=503')
 */
export function readFaultHeader(value: string): readonly HeaderFault[] {
  const members = listOf(value)
  if (members.length > MAX_MEMBERS) {
    throw headerRefusal(
      `It names ${members.length} faults; at most ${MAX_MEMBERS} may be named in one request.`,
    )
  }
  return members.map(faultOf)
}

function listOf(value: string): readonly (Item | InnerList)[] {
  try {
    return structured().parseList(value)
  } catch (error) {
    const reason = (error as Error).message.replace(/^Parse error: /, '')
    throw headerRefusal(`It is no list of names with parameters (RFC 9651): ${reason}.`, EXAMPLE)
  }
}

function faultOf(member: Item | InnerList): HeaderFault {
  const { Token, serializeList } = structured()
  const text = serializeList([member])
  const [name, parameters] = member
  if (!(name instanceof Token)) {
    throw headerRefusal(`"${text}" is no name of a preset: names stand without quotes and brackets.`, EXAMPLE)
  }
  const plain = [...parameters].map(([key, item]) => [key, plainOf(key, item)] as const)
  return { text, preset: name.toString(), parameters: new Map(plain) }
}

function plainOf(key: string, item: BareItem): HeaderValue {
  if (typeof item === 'number' || typeof item === 'string' || typeof item === 'boolean') return item
  const { Token, serializeBareItem } = structured()
  if (item instanceof Token) return item.toString()
  throw headerRefusal(
    `The parameter ${key} has the value ${serializeBareItem(item)}. A value is a number, a word, or a text in quotes.`,
  )
}

const EXAMPLE =
  'Write it like this: X-Emulator-Fault: retry-after-http-date;in=2, server-error;status=503;nth=1'
