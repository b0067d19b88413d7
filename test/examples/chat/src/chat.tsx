import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { api, events, type Message, send } from './api.ts'
import { usePlace } from './app.tsx'
import { Problem } from './parts.tsx'

const textOf = ({ content }: Message) =>
  content.map((each) => (each.type === 'text' ? each.text : `[${each.type}]`)).join(' ')

/** A question that is being answered, or whose answer broke off. */
interface Asked {
  readonly question: string
  readonly answer: string
}

export function Chat() {
  const [, id = ''] = usePlace()
  const client = useQueryClient()
  const conversations = useQuery({ queryKey: ['conversations'], queryFn: api.conversations })
  const messages = useQuery({
    queryKey: ['messages', id],
    queryFn: () => api.messages(id),
    enabled: id !== '',
  })
  const [asked, setAsked] = useState<Asked>()
  // The conversation of the answer that broke off: it may be a new one.
  const started = useRef(id)
  const end = useRef<HTMLDivElement>(null)
  const refresh = async () => {
    const id = started.current
    await client.invalidateQueries({ queryKey: ['conversations'] })
    if (id !== '') {
      // Before the conversation is shown: otherwise the screen would be empty until its messages are there.
      await client.prefetchQuery({ queryKey: ['messages', id], queryFn: () => api.messages(id) })
      location.hash = `Chat/${id}`
    }
    setAsked(undefined)
  }
  const ask = useMutation({
    mutationFn: async (question: string) => {
      started.current = id
      setAsked({ question, answer: '' })
      const json = { text: question, ...(id !== '' && { conversation_id: id }) }
      const response = await send('/converse', { json })
      for await (const { event, data } of events(response)) {
        const { conversation_id, text = '' } = data as { conversation_id?: string; text?: string }
        if (event === 'start') started.current = conversation_id ?? id
        if (event === 'delta') setAsked((last) => ({ question, answer: (last?.answer ?? '') + text }))
        if (event === 'done') return
      }
      throw new Error('The answer ended too early.')
    },
    onSuccess: refresh,
  })
  // A response that was lost in the middle is not asked for again: the service has the answer.
  const readAgain = useMutation({ mutationFn: refresh, onSuccess: () => ask.reset() })
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages.data, asked])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const question = String(new FormData(event.currentTarget).get('question')).trim()
    if (question === '' || ask.isPending) return
    event.currentTarget.reset()
    ask.mutate(question)
  }
  const shown = id === '' ? [] : (messages.data?.data ?? [])
  return (
    <div className="chat">
      <aside aria-label="Conversations">
        <a className="new" href="#Chat">
          New chat
        </a>
        <Problem error={conversations.error} reason={conversations.failureReason} />
        {conversations.data?.data.map((each) => (
          <a key={each.id} href={`#Chat/${each.id}`} aria-current={each.id === id ? 'true' : undefined}>
            {each.name}
          </a>
        ))}
      </aside>
      <section aria-label="Messages">
        <div className="messages">
          {shown.length === 0 && asked === undefined && (
            <p className="empty">Ask about the pages of your teamspace.</p>
          )}
          {shown.map((message) => (
            <p key={message.id} className={message.role}>
              {textOf(message)}
            </p>
          ))}
          {asked !== undefined && (
            <>
              <p className="user">{asked.question}</p>
              {asked.answer !== '' && (
                <p className="agent" aria-busy={ask.isPending}>
                  {asked.answer}
                </p>
              )}
            </>
          )}
          <Problem error={messages.error} reason={messages.failureReason} />
          {ask.isPending && <Problem error={null} reason={ask.failureReason} />}
          {ask.error !== null && (
            <p role="alert" className="problem">
              The connection was lost.{' '}
              <button type="button" onClick={() => readAgain.mutate()}>
                Read the answer again
              </button>
            </p>
          )}
          <div ref={end} />
        </div>
        <form onSubmit={submit}>
          <input name="question" aria-label="Question" placeholder="Ask a question" autoComplete="off" />
          <button type="submit" disabled={ask.isPending}>
            Send
          </button>
        </form>
      </section>
    </div>
  )
}
