<?php

declare(strict_types=1);

namespace Carteira;

/**
 * The company's events as webhooks get them, oldest first, each once: foreach ($carteira->events($cursor) as $event) …
 * It goes on for ever, unless $wait is 0: then it ends where the events do.
 *
 * $cursor is where you stopped, or "latest" for what happens from now on, or null for all that is kept. Keep it with
 * your work, after each event: begin there next time, and nothing is missed and nothing comes twice.
 *
 * @implements \IteratorAggregate<int, array<string, mixed>>
 */
final class Feed implements \IteratorAggregate
{
    /** @param list<string> $types */
    public function __construct(
        private readonly Client $client,
        public ?string $cursor,
        private readonly array $types,
        private readonly int $wait,
    ) {
    }

    public function getIterator(): \Generator
    {
        do {
            $began = microtime(true);
            $answer = $this->client->call('GET', '/events', query: [
                'after' => $this->cursor, 'types' => implode(',', $this->types) ?: null, 'limit' => 200, 'wait' => $this->wait ?: null,
            ]);
            foreach ($answer['data'] as $event) {
                $this->cursor = $event['id'];
                yield $event;
            }
            $last = $answer['meta']['last_id'] ?? null;
            if ($last !== null || $this->cursor === 'latest') {
                $this->cursor = $last; // null where there is no event yet: then all that is kept is what happens from now on
            }
            $more = $answer['meta']['has_more'];
            if (!$more && $answer['data'] === [] && microtime(true) - $began < $this->wait / 2) {
                sleep(min($this->wait, 5)); // too many wait already: the answer came at once
            }
        } while ($more || $this->wait > 0);
    }
}
