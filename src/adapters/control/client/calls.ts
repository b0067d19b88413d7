import type * as z from 'zod'
import type { Input, ParamsOf } from '../../../core/operation.ts'
import type { ControlRoute } from '../route.ts'
import type { OwnRoute } from '../routes/index.ts'

/** What one route takes and answers, as its declaration says. */
type CallOf<R> =
  R extends ControlRoute<infer _Verb, infer Path, infer I, infer Output>
    ? {
        readonly params: ParamsOf<Path>
        readonly body: InputOf<I, 'body'>
        readonly query: InputOf<I, 'query'>
        readonly answer: z.output<Output>
      }
    : never

type InputOf<I extends Input, K extends keyof Input> = I[K] extends z.ZodType ? z.input<I[K]> : unknown

/** Every call of the control interface itself, by method and path template: `POST /clock/advance`. */
export type Calls = { readonly [R in OwnRoute as `${R['method']} ${R['path']}`]: CallOf<R> }
