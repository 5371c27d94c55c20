<?php

declare(strict_types=1);

namespace Carteira;

/** The signature of what an installation sends to a webhook. */
final class Webhook
{
    /** How many seconds a timestamp may differ from the clock. */
    private const TOLERANCE = 300;

    /**
     * Checks the signature and the time of a request and returns its event. $body is what was received, byte for byte:
     * file_get_contents('php://input'). $headers are $_SERVER, or names with values. One event may come more than once:
     * remember its id.
     *
     * @param array<string, mixed> $headers
     * @return array{event: string, id: string, data: array<string, mixed>, ...}
     */
    public static function verify(string $body, array $headers, string $secret, ?int $now = null): array
    {
        if ($secret === '') {
            throw new \InvalidArgumentException("verify needs the webhook's secret: with an empty one every signature can be made");
        }
        $timestamp = self::header($headers, 'X-Service-Timestamp');
        $want = 'sha256=' . hash_hmac('sha256', $timestamp . '.' . $body, $secret);
        if (!hash_equals($want, self::header($headers, 'X-Service-Signature'))) {
            throw new WebhookError(401, 'wrong signature');
        }
        if (!preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs(($now ?? time()) - (int) $timestamp) > self::TOLERANCE) {
            throw new WebhookError(408, 'sent more than 300 seconds ago, or from the future');
        }
        $event = json_decode($body, true);
        if (!is_array($event) || !self::isName($event['event'] ?? null) || !self::isName($event['id'] ?? null)) {
            throw new WebhookError(400, 'not an event');
        }
        return $event;
    }

    private static function isName(mixed $value): bool
    {
        return is_string($value) && $value !== '';
    }

    /** @param array<string, mixed> $headers */
    private static function header(array $headers, string $name): string
    {
        $given = array_change_key_case($headers, CASE_LOWER);
        $value = $given[strtolower($name)] ?? $given['http_' . strtolower(strtr($name, '-', '_'))] ?? '';
        return (string) (is_array($value) ? ($value[0] ?? '') : $value);
    }
}
