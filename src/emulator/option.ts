import { z } from 'zod'

/** The text of an option is invalid. The message has the reason and what to give instead; callers put name and text in front. */
export class BadValue extends Error {
  override readonly name = 'BadValue'
}

/** Turns the text of a flag or an environment variable into a value. Throws {@link BadValue}. */
export type Parse<T> = (text: string) => T

/** The part of a zod schema that is used here: the published types of the library must not import zod. */
export interface ValueSchema<T> {
  parse(value: unknown): T
}

/** A kind of value: in JavaScript, and as text. */
export interface Kind<T> {
  readonly schema: ValueSchema<T>
  readonly parse: Parse<T>
  /** The name of the value in help texts. */
  readonly placeholder: string
}

/**
 * One option: of the library, of the command line and in the environment. Its name makes the flag (`skipOnPoll`:
 * `--skip-on-poll`) and the variable (`WORKSPACE_EMULATOR_SKIP_ON_POLL`).
 * @typeParam T its value in the library
 * @typeParam C its value on the command line, where a document is the path of a file
 */
export interface Option<T, C = T> {
  readonly schema: ValueSchema<T>
  /** Parses the value, or one value of a list. */
  readonly parse: Parse<unknown>
  /** A `switch` has no value; a `list` may be repeated, and is separated by commas in the environment. */
  readonly kind: 'value' | 'switch' | 'list'
  readonly placeholder?: string
  readonly default: C
  /** The default in help texts, if the value itself does not explain it. */
  readonly shown?: string
  readonly description: string
  /** The name of the flag, if it differs from the name of the option. */
  readonly flag?: string
  /** The flag that its environment variable is named after, if another option has the same flag. */
  readonly variable?: string
  readonly short?: string
}

type Description = Pick<Option<unknown>, 'description' | 'flag' | 'short' | 'shown'>

export function kind<T>(
  placeholder: string,
  schema: z.ZodType<T>,
  refusal: string,
  read: (text: string) => unknown = (text) => text,
): Kind<T> {
  const parse = (text: string): T => {
    const { success, data } = schema.safeParse(read(text))
    if (success) return data
    throw new BadValue(refusal)
  }
  return { placeholder, schema, parse }
}

export function option<T>(of: Kind<T>, value: T, description: Description): Option<T> {
  return { kind: 'value', ...of, default: value, ...description }
}

/** An option that may be absent. */
export function optional<T>(of: Kind<T>, shown: string, description: string): Option<T, T | undefined> {
  return { kind: 'value', ...of, default: undefined, shown, description }
}

export function listOption<T>(
  { placeholder, schema, parse }: Kind<T>,
  description: Description,
): Option<readonly T[]> {
  const values = z.array(schema as z.ZodType<T>)
  return { kind: 'list', placeholder, schema: values, parse, default: [], shown: 'none', ...description }
}

export function toggle(description: string): Option<boolean> {
  const parse: Parse<boolean> = (text) => {
    const word = text.toLowerCase()
    if (['1', 'true', 'yes', 'on'].includes(word)) return true
    if (['0', 'false', 'no', 'off'].includes(word)) return false
    throw new BadValue('is neither on nor off. Give 1 or 0.')
  }
  return { kind: 'switch', schema: yesOrNo, parse, default: false, description }
}

export const yesOrNo = z.boolean()

/** A document in the library; on the command line the path of its file. */
export function documentOption<T, C>(schema: z.ZodType<T>, value: C, description: Description): Option<T, C> {
  return {
    kind: 'value',
    placeholder: 'file',
    schema,
    parse: (path) => path,
    default: value,
    ...description,
  }
}

export function decimal(text: string): number | undefined {
  return /^\d*\.?\d+$/.test(text) ? Number(text) : undefined
}

export function choiceOption<const T extends string>(placeholder: string, words: readonly T[]): Kind<T> {
  const choices = words.join(', ').replace(/, ([^,]*)$/, ' or $1')
  return kind(placeholder, z.enum(words as readonly [T, ...T[]]), `is unknown. Give ${choices}.`)
}

export function textOption(placeholder: string): Kind<string> {
  return kind(placeholder, nonEmpty, 'is empty. Give a value, or leave it out.')
}

const nonEmpty = z.string().min(1)
