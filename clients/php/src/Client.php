<?php

declare(strict_types=1);

namespace Carteira;

/**
 * Calls the API of one installation with one token. Calls are repeated when that does no harm: those that read, and
 * every POST, since each carries an Idempotency-Key. Retry-After is heeded.
 */
final class Client
{
    /** Statuses after which the same call may succeed. 409 is a repeat that met its first attempt still running. */
    private const PASSING = [409, 429, 502, 503, 504];

    private readonly string $base;

    /**
     * @param string $url what the addresses of the installation's pages begin with, such as https://clientes.example.com
     * @param int $retries how often a call is repeated after 429, 502, 503, 504 or a broken connection
     * @param int $longestWait the longest wait before a repeat, in seconds
     * @param int $timeout how long one attempt may take, in seconds
     */
    public function __construct(
        string $url,
        private readonly string $token,
        private readonly int $retries = 4,
        private readonly int $longestWait = 60,
        private readonly int $timeout = 35,
    ) {
        if ($token === '') {
            throw new \InvalidArgumentException('Client needs a token');
        }
        $this->base = rtrim($url, '/') . '/api/v1';
    }

    /**
     * The record, or the records of one page.
     *
     * @param array<string, mixed> $query
     * @return array<mixed>
     */
    public function get(string $path, array $query = []): array
    {
        return $this->call('GET', $path, $query)['data'];
    }

    /**
     * Does something once. Give your own key where another process may repeat the request.
     *
     * @param array<string, mixed>|null $body
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    public function post(string $path, ?array $body = null, ?string $idempotencyKey = null, array $query = []): array
    {
        return $this->call('POST', $path, $query, $body, $idempotencyKey)['data'];
    }

    /**
     * Changes the fields that are sent; null clears one.
     *
     * @param array<string, mixed> $body
     * @return array<string, mixed>
     */
    public function put(string $path, array $body): array
    {
        return $this->call('PUT', $path, body: $body)['data'];
    }

    /** @return array<string, mixed> */
    public function delete(string $path): array
    {
        return $this->call('DELETE', $path)['data'];
    }

    /**
     * Every record of a list, page after page: foreach ($carteira->each('/customers', ['status' => 'vencido']) as $customer) …
     *
     * @param array<string, mixed> $query
     * @return \Generator<int, array<string, mixed>>
     */
    public function each(string $path, array $query = []): \Generator
    {
        for ($page = 1, $last = 1; $page <= $last; $page++) {
            $answer = $this->call('GET', $path, ['page' => $page] + $query + ['per_page' => 200]);
            foreach ($answer['data'] as $record) { // no yield from: each page would begin its keys anew
                yield $record;
            }
            $last = $answer['meta']['last_page'] ?? 1;
        }
    }

    /**
     * The company's events. See Feed.
     *
     * @param list<string> $types
     */
    public function events(?string $after = null, array $types = [], int $wait = 25): Feed
    {
        return new Feed($this, $after, $types, $wait);
    }

    /**
     * The whole answer, with data, meta and message. Throws CarteiraError for a refusal.
     *
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    public function call(string $method, string $path, array $query = [], ?array $body = null, ?string $idempotencyKey = null): array
    {
        $address = $this->address($path, $query);
        $context = $this->context($method, $body, $idempotencyKey);
        for ($attempt = 0; ; $attempt++) {
            $answer = $this->attempt($address, $context);
            if ($answer === null && ($attempt >= $this->retries || $method === 'PUT' || $method === 'DELETE')) {
                throw new ConnectionError("$method $path: " . (error_get_last()['message'] ?? 'the connection broke'));
            }
            if ($answer !== null && $answer['status'] === 200) {
                return $answer['json'];
            }
            $wait = $this->delay($answer, $attempt);
            if ($answer !== null && ($wait === null || $attempt >= $this->retries)) {
                $json = $answer['json'];
                throw new CarteiraError(
                    $answer['status'],
                    $json['message'] ?? 'HTTP ' . $answer['status'],
                    $json['errors'] ?? [],
                    $answer['headers']['x-request-id'] ?? null,
                );
            }
            usleep((int) (($wait ?? 0) * 1e6));
        }
    }

    /** @param array<string, mixed> $query */
    private function address(string $path, array $query): string
    {
        $given = [];
        foreach ($query as $name => $value) {
            if ($value !== null) {
                $given[$name] = is_bool($value) ? ($value ? 'true' : 'false') : (is_array($value) ? implode(',', $value) : $value);
            }
        }
        return $this->base . $path . ($given ? '?' . http_build_query($given) : '');
    }

    /**
     * @param array<string, mixed>|null $body
     * @return resource
     */
    private function context(string $method, ?array $body, ?string $key)
    {
        $headers = ['Authorization: Bearer ' . $this->token, 'Accept: application/json', 'Connection: close'];
        if ($method === 'POST') {
            $headers[] = 'Idempotency-Key: ' . ($key ?? bin2hex(random_bytes(16)));
        }
        $http = ['method' => $method, 'timeout' => $this->timeout, 'ignore_errors' => true, 'follow_location' => 0, 'protocol_version' => 1.1];
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
            $http['content'] = json_encode($body ?: new \stdClass(), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
        } elseif ($method === 'POST') {
            $headers[] = 'Content-Length: 0';
        }
        return stream_context_create(['http' => $http + ['header' => $headers]]);
    }

    /**
     * One attempt; null when the connection broke.
     *
     * @param resource $context
     * @return array{status: int, headers: array<string, string>, json: array<string, mixed>}|null
     */
    private function attempt(string $address, $context): ?array
    {
        $stream = @fopen($address, 'rb', false, $context);
        if ($stream === false) {
            return null;
        }
        $body = stream_get_contents($stream);
        $meta = stream_get_meta_data($stream);
        fclose($stream);
        if ($body === false || $meta['timed_out'] || !preg_match('#^HTTP/\S+ (\d{3})#', $meta['wrapper_data'][0] ?? '', $status)) {
            return null;
        }
        $headers = [];
        foreach (array_slice($meta['wrapper_data'], 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower($name)] = trim($value);
        }
        $json = json_decode($body, true);
        return ['status' => (int) $status[1], 'headers' => $headers, 'json' => is_array($json) ? $json : []];
    }

    /**
     * Seconds to wait before a repeat; null: do not repeat. $answer is null when the connection broke.
     *
     * @param array{status: int, headers: array<string, string>}|null $answer
     */
    private function delay(?array $answer, int $attempt): ?float
    {
        if ($answer !== null && !in_array($answer['status'], self::PASSING, true)) {
            return null;
        }
        $told = $answer['headers']['retry-after'] ?? '';
        if ($answer !== null && $answer['status'] === 409 && $told === '') {
            return null; // a conflict that does not pass
        }
        if (ctype_digit($told)) {
            return (int) $told <= $this->longestWait ? (float) $told : null;
        }
        $wait = min($this->longestWait, 0.5 * 2 ** $attempt);
        return $wait / 2 + lcg_value() * $wait / 2; // so that those who failed together do not come back together
    }
}
