<?php
// A receiver of Carteira's webhooks, for any PHP behind a server with HTTPS. To try it:
//
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:9000 receiver.php
declare(strict_types=1);

// Remembers ids in a file. In earnest: a table with a unique key, written in the
// transaction that does the work.
function isNew(string $id): bool
{
    $file = fopen(getenv('WEBHOOK_SEEN') ?: sys_get_temp_dir() . '/webhook-seen', 'c+');
    flock($file, LOCK_EX);
    $seen = explode("\n", stream_get_contents($file));
    $new = !in_array($id, $seen, true);
    if ($new) {
        fwrite($file, $id . "\n");
    }
    fclose($file);
    return $new;
}

function receive(string $body): int
{
    $timestamp = $_SERVER['HTTP_X_SERVICE_TIMESTAMP'] ?? '';
    $want = 'sha256=' . hash_hmac('sha256', $timestamp . '.' . $body, getenv('WEBHOOK_SECRET'));
    if (!hash_equals($want, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '')) {
        return 401;
    }
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return 408;
    }
    $event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
    if (isNew($event['id'])) {
        // Here goes your work; longer work goes into a queue.
        file_put_contents('php://stdout', $event['event'] . ' ' . $event['id'] . "\n");
    }
    return 204;
}

// The raw bytes: decoded and encoded again they differ.
http_response_code(receive(file_get_contents('php://input')));
