// Chat: an example to change. The specification names these endpoints without a contract; write down the one of your service.
import { defineEndpoint, type EndpointRequest } from 'agent-workspace-emulator'
import * as z from 'zod'

interface Conversation {
  readonly name: string
  readonly created_at: string
  readonly _emulator: {
    readonly teamspace_id: string
    readonly user_ids?: readonly string[] | null
    readonly root?: boolean
  }
}

interface Message {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly created_at: string
  // Facts about a record that no response shows.
  readonly _emulator: { readonly conversation_id: string; readonly kind: string }
}

/** The conversation with this id, if the caller may see it; otherwise a 404. */
function conversationOf({ records, caller, refuse }: EndpointRequest, id: string) {
  const found = records<Conversation>('conversations').get(id)
  const { teamspace_id, user_ids = null } = found?._emulator ?? {}
  const isMember = user_ids === null || (caller.user_id !== null && user_ids.includes(caller.user_id))
  if (found === undefined || teamspace_id !== caller.teamspace_id || !isMember)
    return refuse(404, 'not_found', `There is no conversation with the id "${id}".`)
  return found
}

const shown = ({ _emulator, ...message }: Message & { readonly id: string }) => ({
  ...message,
  object: 'message',
  role: _emulator.kind === 'user' ? 'user' : 'agent',
})

const text = (content: string) => [{ type: 'text', text: content }]

export default [
  defineEndpoint({
    method: 'GET',
    path: '/conversations/{conversation_id}/messages',
    name: 'messages.list',
    summary: 'Read the messages of a conversation, oldest first',
    handle(request) {
      const { id } = conversationOf(request, request.params.conversation_id ?? '')
      const messages = request
        .records<Message>('messages')
        .find(({ _emulator }) => _emulator.conversation_id === id)
      return { body: request.list(messages.map(shown)) }
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/converse',
    summary: 'Ask a question: the answer is a stream of server-sent events',
    body: z.object({ text: z.string().trim().min(1), conversation_id: z.string().optional() }),
    handle(request) {
      const { body, records, caller, at, newId, stream } = request
      const conversation =
        body.conversation_id === undefined
          ? records<Conversation>('conversations').insert({
              id: newId(),
              name: body.text.slice(0, 60),
              created_at: at,
              _emulator: {
                teamspace_id: caller.teamspace_id,
                user_ids: caller.user_id === null ? null : [caller.user_id],
              },
            })
          : conversationOf(request, body.conversation_id)
      const messages = records<Message>('messages')
      const say = (kind: string, content: string) =>
        messages.insert({
          content: text(content),
          created_at: at,
          _emulator: { conversation_id: conversation.id, kind },
        })
      const question = say('user', body.text)
      const answer = say('agent', answerTo(request, body.text))
      const words = (answer.content[0]?.text ?? '').split(/(?<= )/)
      // The question and the answer are written when this function returns, so a client whose stream is cut can read both.
      return stream.events([
        {
          event: 'start',
          data: { conversation_id: conversation.id, question_id: question.id, answer_id: answer.id },
        },
        ...words.map((word) => ({ event: 'delta', data: { text: word }, after: '60ms' })),
        { event: 'done', data: shown(answer) },
      ])
    },
  }),
]

/** Your service asks a model. This one names the pages with a word of the question. */
function answerTo({ records, caller }: EndpointRequest, question: string): string {
  const words = question.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  const pages = records<{ name: string }>('pages').visibleTo(caller)
  const found = pages.filter(({ name }) => words.some((word) => name.toLowerCase().includes(word)))
  if (found.length === 0) return 'No page has a word of this question. Create one, and ask again.'
  return `These pages may help: ${found.map(({ name }) => name).join(', ')}.`
}
