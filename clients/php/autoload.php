<?php

// For those who do not use composer: require this file.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Carteira\\')) {
        $file = __DIR__ . '/src/' . strtr(substr($class, 9), '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
